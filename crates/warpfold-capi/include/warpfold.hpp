// warpfold for C++17 and newer: warpfold.h with owners, exceptions and types. Manual: docs/c.md.
//
//     std::vector<float> x = ...;
//     float s = warpfold::sum(x);
//     auto means = warpfold::request(WF_MEAN).view(x.data(), {rows, columns}).axes({1}).run<float>();
//
// Any contiguous container of bool, integers, float, double or std::complex of these is an array; 16-bit floats go by type number and pointer.

#ifndef WARPFOLD_HPP
#define WARPFOLD_HPP

#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#if __has_include(<version>)
#include <version>
#endif
#if defined(__cpp_lib_span)
#include <span>
#endif

#include "warpfold.h"

namespace warpfold {

// A call that failed: what() is the library's message, status() its number.
class error : public std::runtime_error {
public:
    error(wf_status status, const char *message) : std::runtime_error(message), status_(status) {}
    wf_status status() const noexcept { return status_; }

private:
    wf_status status_;
};

// Throws an error unless the status is WF_OK.
inline void check(wf_status status) {
    if (status != WF_OK) {
        throw error(status, wf_last_error());
    }
}

namespace detail {

template <class T> struct is_complex : std::false_type {};
template <class T> struct is_complex<std::complex<T>> : std::true_type {};

template <class T> constexpr wf_dtype dtype_of() {
    static_assert(sizeof(float) == 4 && sizeof(double) == 8 && sizeof(bool) == 1, "types as elsewhere");
    if constexpr (std::is_same_v<T, bool>) {
        return WF_BOOL;
    } else if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
        return sizeof(T) == 1 ? WF_I8 : sizeof(T) == 2 ? WF_I16 : sizeof(T) == 4 ? WF_I32 : WF_I64;
    } else if constexpr (std::is_integral_v<T>) {
        return sizeof(T) == 1 ? WF_U8 : sizeof(T) == 2 ? WF_U16 : sizeof(T) == 4 ? WF_U32 : WF_U64;
    } else if constexpr (std::is_same_v<T, float>) {
        return WF_F32;
    } else if constexpr (std::is_same_v<T, double>) {
        return WF_F64;
    } else if constexpr (std::is_same_v<T, std::complex<float>>) {
        return WF_COMPLEX64;
    } else {
        static_assert(std::is_same_v<T, std::complex<double>>, "warpfold has no such element type");
        return WF_COMPLEX128;
    }
}

template <class T> struct real {
    using type = std::conditional_t<std::is_same_v<T, float>, float, double>;
};
template <class T> struct real<std::complex<T>> { using type = T; };

template <class R> using element = std::remove_cv_t<std::remove_reference_t<decltype(*std::data(std::declval<const R &>()))>>;

} // namespace detail

// The number of an element type.
template <class T> inline constexpr wf_dtype dtype = detail::dtype_of<std::remove_cv_t<T>>();

// The type of sums, products and dot products of T: 64 bits of integers, else T.
template <class T>
using sum_t = std::conditional_t<std::is_integral_v<T>,
                                 std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>, T>;
// The type of means of T: double of integers, else T.
template <class T> using mean_t = std::conditional_t<std::is_integral_v<T>, double, T>;
// The type of variances, deviations, l1 and l2 of T: double of integers, the part of complex numbers, else T.
template <class T> using real_t = typename detail::real<T>::type;

// An array that is lent: std::span where there is one, and its essentials where not.
#if defined(__cpp_lib_span)
template <class T> using span = std::span<T>;
#else
template <class T> class span {
public:
    span(T *data, std::size_t size) : data_(data), size_(size) {}
    T *data() const { return data_; }
    std::size_t size() const { return size_; }
    T *begin() const { return data_; }
    T *end() const { return data_ + size_; }
    T &operator[](std::size_t at) const { return data_[at]; }

private:
    T *data_;
    std::size_t size_;
};
#endif

namespace detail {

struct freed {
    void operator()(wf_request *object) const { wf_request_free(object); }
    void operator()(wf_gpu *object) const { wf_gpu_free(object); }
    void operator()(wf_result *object) const { wf_result_free(object); }
    void operator()(wf_partial *object) const { wf_partial_free(object); }
};
template <class T> using owner = std::unique_ptr<T, freed>;

} // namespace detail

// Results that the library owns, whatever their number and types.
class result {
public:
    explicit result(wf_result *handle) : handle_(handle) {}
    std::size_t size() const { return sizes().first; }
    std::size_t columns() const { return sizes().second; }
    std::string name(std::size_t column) const {
        const char *name = nullptr;
        check(wf_result_column(handle_.get(), column, &name, nullptr, nullptr));
        return name;
    }
    // The numbers of a column, which must be of type T, while this object lives.
    template <class T> span<const T> column(std::size_t column) const {
        wf_dtype type;
        const void *data = nullptr;
        check(wf_result_column(handle_.get(), column, nullptr, &type, &data));
        return typed<T>(type, data);
    }
    template <class T> span<const T> column(const std::string &name) const {
        for (std::size_t k = 0; k < columns(); ++k) {
            if (this->name(k) == name) {
                return column<T>(k);
            }
        }
        throw error(WF_ERROR_ARGUMENT, ("the result has no column \"" + name + "\"").c_str());
    }
    // The keys of groups, which were given as type T, while this object lives.
    template <class T> span<const T> keys() const {
        wf_dtype type;
        const void *data = nullptr;
        check(wf_result_keys(handle_.get(), &type, &data));
        return typed<T>(type, data);
    }
    std::vector<std::uint64_t> shape() const {
        std::size_t ndim = 0;
        const std::uint64_t *shape = nullptr;
        check(wf_result_shape(handle_.get(), &ndim, &shape));
        return std::vector<std::uint64_t>(shape, shape + ndim);
    }
    const wf_result *get() const { return handle_.get(); }

private:
    std::pair<std::size_t, std::size_t> sizes() const {
        std::pair<std::size_t, std::size_t> sizes;
        check(wf_result_size(handle_.get(), &sizes.first, &sizes.second));
        return sizes;
    }
    template <class T> span<const T> typed(wf_dtype type, const void *data) const {
        if (type != dtype<T>) {
            throw error(WF_ERROR_TYPE, "the result holds another type; see wf_result_column");
        }
        return span<const T>(static_cast<const T *>(data), size());
    }
    detail::owner<wf_result> handle_;
};

// A reduction that is being set up. It borrows arrays, offsets and keys until it was run.
class request {
public:
    explicit request(wf_op op) {
        wf_request *handle = nullptr;
        check(wf_request_new(op, &handle));
        handle_.reset(handle);
    }
    request &op(wf_op op) { return then(wf_request_set_op(get(), op)); }
    request &array(wf_dtype type, const void *data, std::size_t len) {
        return then(wf_request_set_array(get(), type, data, len));
    }
    template <class R> request &array(const R &x) { return array(type<R>, std::data(x), std::size(x)); }
    template <class R> request &pair(const R &y) {
        return then(wf_request_set_pair(get(), type<R>, std::data(y), std::size(y)));
    }
    // In C order.
    template <class T> request &view(const T *data, const std::vector<std::uint64_t> &shape) {
        return then(wf_request_set_view(get(), dtype<T>, data, shape.size(), shape.data(), nullptr));
    }
    // data points to the element whose indices are all 0; strides count elements.
    template <class T>
    request &view(const T *data, const std::vector<std::uint64_t> &shape, const std::vector<std::int64_t> &strides) {
        if (shape.size() != strides.size()) {
            throw error(WF_ERROR_SHAPE, "shape and strides differ in length; give one stride for each axis");
        }
        return then(wf_request_set_view(get(), dtype<T>, data, shape.size(), shape.data(), strides.data()));
    }
    request &whole() { return then(wf_request_whole(get())); }
    request &axes(const std::vector<std::int64_t> &axes) { return then(wf_request_axes(get(), axes.data(), axes.size())); }
    request &segments_every(std::uint64_t length) { return then(wf_request_segments_every(get(), length)); }
    template <class R> request &segments(const R &offsets) {
        return then(wf_request_segments(get(), type<R>, std::data(offsets), std::size(offsets)));
    }
    template <class R> request &groups(const R &keys) {
        return then(wf_request_groups(get(), type<R>, std::data(keys), std::size(keys)));
    }
    template <class R> request &groups_dense(const R &keys, std::uint64_t groups) {
        return then(wf_request_groups_dense(get(), type<R>, std::data(keys), std::size(keys), groups));
    }
    template <class R> request &runs(const R &keys) {
        return then(wf_request_runs(get(), type<R>, std::data(keys), std::size(keys)));
    }
    // What is borrowed must outlive the run: a temporary would not.
    template <class T> request &array(std::initializer_list<T>) = delete;

    request &accuracy(wf_accuracy accuracy) { return then(wf_request_set_accuracy(get(), accuracy)); }
    request &nan(wf_nan nan) { return then(wf_request_set_nan(get(), nan)); }
    request &overflow(wf_overflow overflow) { return then(wf_request_set_overflow(get(), overflow)); }
    request &ddof(std::uint64_t ddof) { return then(wf_request_set_ddof(get(), ddof)); }
    request &threads(std::size_t threads) { return then(wf_request_set_threads(get(), threads)); }
    request &round_to(wf_dtype type) { return then(wf_request_set_round_to(get(), type)); }
    request &flat_indices(bool flat = true) { return then(wf_request_set_flat_indices(get(), flat)); }

    // The one result of a whole array.
    template <class T> T value() const {
        T value{};
        check(wf_request_run(get(), dtype<T>, &value, 1, nullptr));
        return value;
    }
    // The results of all parts, which are of type T.
    template <class T> std::vector<T> run() const {
        static_assert(!std::is_same_v<T, bool>, "std::vector<bool> is no array; take results()");
        class result all = results();
        auto column = all.template column<T>(std::size_t{0});
        return std::vector<T>(column.begin(), column.end());
    }
    class result results() const {
        wf_result *result = nullptr;
        check(wf_request_result(get(), &result));
        return warpfold::result(result);
    }
    wf_request *get() const { return handle_.get(); }

private:
    template <class R> static constexpr wf_dtype type = dtype<detail::element<R>>;
    request &then(wf_status status) {
        check(status);
        return *this;
    }
    detail::owner<wf_request> handle_;
};

// A GPU. Requests run there have arrays and offsets in memory that it can read, in a stream of its primary context (a CUstream or cudaStream_t).
class gpu {
public:
    explicit gpu(std::int32_t ordinal = 0) {
        wf_gpu *handle = nullptr;
        check(wf_gpu_open(ordinal, &handle));
        handle_.reset(handle);
    }
    // The results of all parts, which are no more than most, on the host.
    template <class T> std::vector<T> run(const request &request, std::size_t most, void *stream = nullptr) const {
        static_assert(!std::is_same_v<T, bool>, "std::vector<bool> is no array; take wf_gpu_request_run");
        std::vector<T> results(most);
        std::size_t written = 0;
        check(wf_gpu_request_run(get(), request.get(), stream, dtype<T>, results.data(), most, &written));
        results.resize(written);
        return results;
    }
    // The one result of a whole array, on the host.
    template <class T> T value(const request &request, void *stream = nullptr) const {
        T value{};
        check(wf_gpu_request_run(get(), request.get(), stream, dtype<T>, &value, 1, nullptr));
        return value;
    }
    // The same, left in the GPU's memory when the stream has come this far.
    template <class T> void start(const request &request, T *device_out, void *stream = nullptr) const {
        check(wf_gpu_request_start(get(), request.get(), stream, dtype<T>, device_out));
    }
    wf_gpu *get() const { return handle_.get(); }

private:
    detail::owner<wf_gpu> handle_;
};

// Exact state of a reduction of T: add, merge in any order, round once at the end. Copies are copies of the state.
template <class T> class partial {
public:
    explicit partial(wf_op op) : op_(op) {
        wf_partial *handle = nullptr;
        check(wf_partial_new(op, dtype<T>, &handle));
        handle_.reset(handle);
    }
    partial(wf_op op, const void *bytes, std::size_t size) : op_(op) {
        wf_partial *handle = nullptr;
        check(wf_partial_from_bytes(op, dtype<T>, bytes, size, &handle));
        handle_.reset(handle);
    }
    partial(const partial &other) : op_(other.op_) {
        wf_partial *handle = nullptr;
        check(wf_partial_clone(other.get(), &handle));
        handle_.reset(handle);
    }
    partial &operator=(const partial &other) { return *this = partial(other); }
    partial(partial &&) noexcept = default;
    partial &operator=(partial &&) noexcept = default;

    partial &start_at(std::uint64_t index) { return then(wf_partial_start_at(get(), index)); }
    template <class R> partial &add(const R &x) {
        return then(wf_partial_add(get(), dtype<detail::element<R>>, std::data(x), std::size(x)));
    }
    template <class R> partial &add(const R &x, const R &y) {
        if (std::size(x) != std::size(y)) {
            throw error(WF_ERROR_LENGTH_MISMATCH, "the two arrays differ in length; cut the longer one");
        }
        return then(wf_partial_add_pair(get(), dtype<detail::element<R>>, std::data(x), std::data(y), std::size(x)));
    }
    partial &merge(const partial &other) { return then(wf_partial_merge(get(), other.get())); }
    template <class R> R finish(std::uint64_t ddof = 0) const { return finish<R>(op_, ddof); }
    template <class R> R finish(wf_op op, std::uint64_t ddof = 0) const {
        R value{};
        check(wf_partial_finish(get(), op, ddof, dtype<R>, &value, 1));
        return value;
    }
    class result results(std::uint64_t ddof = 0) const {
        wf_result *result = nullptr;
        check(wf_partial_result(get(), op_, ddof, &result));
        return warpfold::result(result);
    }
    std::vector<unsigned char> to_bytes() const {
        std::size_t size = 0;
        wf_status status = wf_partial_to_bytes(get(), nullptr, 0, &size);
        if (status != WF_ERROR_CAPACITY) {
            check(status);
        }
        std::vector<unsigned char> bytes(size);
        check(wf_partial_to_bytes(get(), bytes.data(), size, &size));
        return bytes;
    }
    std::uint64_t count() const {
        std::uint64_t count = 0;
        check(wf_partial_count(get(), &count));
        return count;
    }
    wf_partial *get() const { return handle_.get(); }

private:
    partial &then(wf_status status) {
        check(status);
        return *this;
    }
    wf_op op_;
    detail::owner<wf_partial> handle_;
};

// Whole arrays under the contract's defaults.
template <class R> auto sum(const R &x) { return request(WF_SUM).array(x).template value<sum_t<detail::element<R>>>(); }
template <class R> auto prod(const R &x) { return request(WF_PROD).array(x).template value<sum_t<detail::element<R>>>(); }
template <class R> auto mean(const R &x) { return request(WF_MEAN).array(x).template value<mean_t<detail::element<R>>>(); }
template <class R> auto var(const R &x, std::uint64_t ddof = 0) {
    return request(WF_VAR).ddof(ddof).array(x).template value<real_t<detail::element<R>>>();
}
template <class R> auto std_dev(const R &x, std::uint64_t ddof = 0) {
    return request(WF_STD).ddof(ddof).array(x).template value<real_t<detail::element<R>>>();
}
template <class R> auto l1(const R &x) { return request(WF_L1).array(x).template value<real_t<detail::element<R>>>(); }
template <class R> auto l2(const R &x) { return request(WF_L2).array(x).template value<real_t<detail::element<R>>>(); }
template <class R> auto min(const R &x) { return request(WF_MIN).array(x).template value<detail::element<R>>(); }
template <class R> auto max(const R &x) { return request(WF_MAX).array(x).template value<detail::element<R>>(); }
template <class R> std::uint64_t argmin(const R &x) { return request(WF_ARGMIN).array(x).template value<std::uint64_t>(); }
template <class R> std::uint64_t argmax(const R &x) { return request(WF_ARGMAX).array(x).template value<std::uint64_t>(); }
template <class R> bool any(const R &x) { return request(WF_ANY).array(x).template value<bool>(); }
template <class R> bool all(const R &x) { return request(WF_ALL).array(x).template value<bool>(); }
template <class R> std::uint64_t count(const R &x) { return request(WF_COUNT).array(x).template value<std::uint64_t>(); }
template <class R> auto dot(const R &x, const R &y) {
    return request(WF_DOT).array(x).pair(y).template value<sum_t<detail::element<R>>>();
}

} // namespace warpfold

#endif
