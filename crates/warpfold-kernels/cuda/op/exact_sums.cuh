// The thread of an exact fold: vectors go into windows where those hold all their terms, else into limbs, and windows
// follow the data.
//
// Terms says what is added: Element, Loaded; Items, the elements (or pairs of them) of what is loaded; COUNT terms of
// one of them; term(item, t); and All, every term of what is loaded. Gathered says where to: LANES, ADDITIONS of
// windows, REACH; distance, add, field, covers, move of a term; add_to_limbs; drain, settle, close; what
// exact_array.cuh asks for of integers; and, if PLAIN, add_plain_to_limbs for finite terms, and whether these are to be
// told from others (CHECKS).
#pragma once
#include "walk/exact_array.cuh"
#include "acc/accumulators.cuh"

template <class Terms, class Gathered, int VECTORS_> struct ExactFold : Gathered {
    typedef typename Terms::Element Element;
    typedef typename Terms::Loaded Loaded;
    typedef typename Terms::Items Items;
    static constexpr int VECTORS = VECTORS_, TERMS = Terms::COUNT, ITEMS = PER_VECTOR<Element>, ALL = ITEMS * TERMS;
    // Long chains of additions, of f64 or beside products: those of all vectors run side by side.
    static constexpr bool TWO_PHASE =
        (sizeof(typename Parts<Element>::Part) == 8 || Gathered::SHARED) && Gathered::PLAIN;
    // Vectors that move down cost shared limbs more than code that stands often.
    static constexpr int STEP = Gathered::SHARED ? (VECTORS > 6 || TERMS > 2 ? VECTORS / 2 : VECTORS)
                                : sizeof(Loaded) == sizeof(Vector) && Gathered::INTEGERS <= Parts<Element>::COUNT
                                    ? VECTORS
                                : VECTORS % 2 == 0 ? 2
                                                   : 1;
    static_assert(VECTORS % STEP == 0, "vectors are taken STEP at a time");
    static constexpr int LANES = Gathered::LANES, THREADS = Gathered::THREADS,
                         BLOCKS = blocks_of(Gathered::STORAGE, THREADS, Gathered::MOST);

    u32 added = 0, moves = 0, top = 0;
    const bool skip;
    u64 nans = 0;

    __device__ __forceinline__ ExactFold(u64* storage, const Arguments& a)
        : Gathered(storage), skip(a.options & SKIP_NAN) {}

    typedef typename Terms::All All;
    __device__ __forceinline__ bool holds(const All& terms) const {
        u32 farthest = 0;
#pragma unroll
        for (int k = 0; k < ALL; k++) farthest = max(farthest, this->distance(terms[k]));
        return farthest < Gathered::REACH;
    }
    __device__ __forceinline__ void add(const All& terms) {
#pragma unroll
        for (int k = 0; k < ALL; k++) Gathered::add(k % LANES, terms[k]);
    }
    __device__ __forceinline__ bool holds_all(const Loaded& p) const { return holds(All(p)); }
    // Zeros change nothing.
    __device__ __forceinline__ void add_all(const Loaded& p) { add(All(p)); }
    // A vector's index only folds of places look at. Terms are made once: roots of complex128 made anew are divided
    // again.
    __device__ __forceinline__ bool inside(const Loaded& p, u64) {
        const All terms(p);
        if (!holds(terms)) return false;
        add(terms);
        return true;
    }
    // The same for a window of another reach, where zeros are held as well.
    __device__ __forceinline__ bool inside_reach(const Loaded& p, u32 reach) {
        const All terms(p);
        u32 farthest = 0;
#pragma unroll
        for (int k = 0; k < ALL; k++) farthest = max(farthest, this->distance_or_zero(terms[k]));
        if (farthest >= reach) return false;
        add(terms);
        return true;
    }
    // For few numbers, some of which lie in the window below: each to its own.
    __device__ __forceinline__ bool inside_below(const Loaded& p) {
        if constexpr (Gathered::BELOW == 0) return false;
        const All terms(p);
        u32 farthest = 0;
#pragma unroll
        for (int k = 0; k < ALL; k++)
            farthest = max(farthest, this->distance_or_zero(terms[k]) + (u32(Gathered::BELOW) << 24));
        if (farthest >= Gathered::SMALL_REACH + (u32(Gathered::BELOW) << 24)) return false;
#pragma unroll
        for (int k = 0; k < ALL; k++) this->add_to_either(k % LANES, terms[k]);
        return true;
    }
    // And for an element before the vectors or after them, which has lanes of its own.
    __device__ __forceinline__ bool end_inside_reach(int end, const typename Items::Item& item, u32 reach) {
        bool in_range = true;
#pragma unroll
        for (int t = 0; t < TERMS; t++) in_range = in_range && this->distance_or_zero(Terms::term(item, t)) < reach;
#pragma unroll
        for (int l = 0; l < 2 * TERMS; l++) {
            if (in_range && l / TERMS == end) Gathered::add(l % LANES, Terms::term(item, l % TERMS));
        }
        return in_range;
    }
    __device__ __forceinline__ u32 sees(const Loaded (&)[VECTORS]) const { return 0; }
    __device__ __forceinline__ void look(Loaded (&)[VECTORS], u64, u64, u32) {}
    __device__ __forceinline__ void look_plain(Loaded (&)[VECTORS], u64, u64, bool) {}
    __device__ __forceinline__ void outside(const Loaded& p, u64) {
        if (moves < MOVES) {
            const All terms(p);
#pragma unroll
            for (int k = 0; k < ALL; k++) {
                const u32 field = this->field(terms[k]);
                top = field > top ? field : top;
            }
        }
        Items items(p);
        if (skip || Gathered::COUNTS_NAN) {
#pragma unroll
            for (int k = 0; k < ITEMS; k++) {
                if (is_nan(items.item(k))) {
                    nans++;
                    if (skip) items.clear(k);
                }
            }
        }
#pragma unroll
        for (int k = 0; k < ITEMS; k++) add_item(items.item(k));
    }
    // Whether nothing in a vector asks for more than `outside_plain`: all is finite, so that nothing is skipped.
    __device__ __forceinline__ bool plain(const Loaded& p) const {
        if constexpr (Gathered::PLAIN) {
            const All terms(p);
            if constexpr (!Gathered::CHECKS) return !skip;
            decltype(terms[0].x) rest = 0;
            // Two of the four products of complex numbers have all components.
#pragma unroll
            for (int k = 0; k < ALL; k += TERMS == 4 ? 2 : 1) rest = plus_nothing(rest, terms[k]);
            return !skip && rest == 0;
        } else {
            return false;
        }
    }
    __device__ __forceinline__ void outside_plain(const Loaded& p) {
        if constexpr (Gathered::PLAIN) {
            const All terms(p);
#pragma unroll
            for (int k = 0; k < ALL; k++) this->add_plain_to_limbs(k % TERMS, terms[k]);
            this->waits(ALL);
        }
    }
    template <class... X> __device__ __forceinline__ void one(u64, X... x) {
        const typename Items::Item item = {x...};
        if ((skip || Gathered::COUNTS_NAN) && is_nan(item)) {
            nans++;
            if (skip) return;
        }
        add_item(item);
    }
    __device__ __forceinline__ void add_item(const typename Items::Item& item) {
#pragma unroll
        for (int t = 0; t < TERMS; t++) this->add_to_limbs(t, Terms::term(item, t));
        this->waits(TERMS);
    }
    __device__ __forceinline__ void end_tile() {
        constexpr u32 TILE = VECTORS * ((ALL + LANES - 1) / LANES);
        added += TILE;
        const bool move = top > 0 && moves < MOVES && !this->covers(top);
        if (added > Gathered::ADDITIONS - TILE || move) {
            this->drain();
            added = 0;
            if (move) this->move(top);
            moves += move;
        }
        top = 0;
        this->settle();
    }
    __device__ __forceinline__ void close() {
        this->drain();
        this->close_limbs();
    }
};

// What is added to windows and limbs: a number, or a product of two.
template <class F> struct Number {
    F x;
};
template <class F> struct Product {
    F x, y;
};

template <class F> __device__ __forceinline__ F value_of(Number<F> term) { return term.x; }
template <class F> __device__ __forceinline__ f64 value_of(Product<F> term) { return product(term.x, term.y); }
template <class Window, class F> __device__ __forceinline__ void add_term(Window& window, int lane, Number<F> term) {
    window.add(lane, term.x);
}
template <class Window, class F> __device__ __forceinline__ void add_term(Window& window, int lane, Product<F> term) {
    add_product(window, lane, term.x, term.y);
}
template <class Limbs, class F> __device__ __forceinline__ void add_term(Limbs& limbs, Number<F> term) {
    limbs.add(term.x);
}
template <class Limbs, class F> __device__ __forceinline__ void add_term(Limbs& limbs, Product<F> term) {
    add_product(limbs, term.x, term.y);
}
// Zero, plus nothing of a finite term, and a NaN of others: one addition each, and no question.
__device__ __forceinline__ f32 plus_nothing(f32 rest, f32 x) { return __fmaf_rn(x, 0, rest); }
__device__ __forceinline__ f64 plus_nothing(f64 rest, f64 x) { return __fma_rn(x, 0, rest); }
template <class F> __device__ __forceinline__ F plus_nothing(F rest, Number<F> term) {
    return plus_nothing(rest, term.x);
}
template <class F> __device__ __forceinline__ F plus_nothing(F rest, Product<F> term) {
    return plus_nothing(plus_nothing(rest, term.x), term.y);
}
// Terms that are plain: nothing to ask, so no branches.
template <class Limbs, class F> __device__ __forceinline__ void add_plain_term(Limbs& limbs, Number<F> term) {
    limbs.add_plain(term.x);
}
template <class Limbs, class F> __device__ __forceinline__ void add_plain_term(Limbs& limbs, Product<F> term) {
    add_plain_product(limbs, term.x, term.y);
}

// One array: its elements.
template <class E> struct OneItems {
    typedef E Item;
    Elements<E> x;

    __device__ __forceinline__ explicit OneItems(const Vector& p) : x(p) {}
    __device__ __forceinline__ E item(int k) const { return x.element[k]; }
    __device__ __forceinline__ void clear(int k) { x.element[k] = E(); }
};
// Two arrays: pairs.
template <class E> struct PairOf {
    E x, y;
};
template <class E> __device__ __forceinline__ bool is_nan(const PairOf<E>& pair) {
    return is_nan(pair.x) || is_nan(pair.y);
}
template <class E> struct TwoItems {
    typedef PairOf<E> Item;
    Elements<E> x, y;

    __device__ __forceinline__ explicit TwoItems(const TwoVectors& p) : x(p.x), y(p.y) {}
    __device__ __forceinline__ Item item(int k) const { return {x.element[k], y.element[k]}; }
    __device__ __forceinline__ void clear(int k) { x.element[k] = y.element[k] = E(); }
};

// Every term of a vector, taken once.
template <class Terms> struct Kept {
    typedef typename Terms::Element E;
    static constexpr int COUNT = Terms::COUNT;
    decltype(Terms::term(E(), 0)) term[COUNT * PER_VECTOR<E>];

    __device__ __forceinline__ explicit Kept(const Vector& p) {
        const Elements<E> e(p);
#pragma unroll
        for (int k = 0; k < COUNT * PER_VECTOR<E>; k++) term[k] = Terms::term(e.element[k / COUNT], k % COUNT);
    }
    __device__ __forceinline__ auto operator[](int k) const { return term[k]; }
};

// The components of each element, or its magnitude.
enum class Of { Values, Absolutes };

template <class E, Of OF = Of::Values> struct Components {
    typedef E Element;
    typedef Vector Loaded;
    typedef OneItems<E> Items;
    typedef typename Parts<E>::Part Wide;
    static constexpr int COUNT = Parts<E>::COUNT;

    static __device__ __forceinline__ Number<Wide> term(E x, int part) {
        if constexpr (COUNT == 2) return {part ? x.im : x.re};
        else return {OF == Of::Absolutes ? fabs(widen(x)) : widen(x)};
    }
    typedef Kept<Components> All;
};

// One warp: the integer of a part for the record, and rounded.
template <class Kind, class Value>
__device__ __forceinline__ void finish_sum(const u64* word, int part, const SpecialValues& flags, u32* scratch,
                                           const Arguments& a) {
    const Integer<Kind::WORDS> integer(word + part * Kind::WORDS);
    if (a.record) integer.store(reinterpret_cast<u32*>(a.record + 2) + part * Kind::WORDS);
    if (!a.value) return;
    const u64 bits = round_integer<typename FormatOf<Value>::type>(integer, Kind::UNIT, flags.specials[part], scratch);
    if (threadIdx.x == 0) set_bits(static_cast<Value*>(a.value) + part, bits);
}

// One integer a part, its value the float nearest to it. Term t belongs to part t modulo PARTS.
template <class Kind, int PARTS, class Wide> struct Sums {
    static constexpr bool PLAIN = Kind::PLAIN && (PARTS == 1 || sizeof(Wide) == 8);
    static constexpr int LANES = sizeof(Wide) == 4 ? 4 : 2, MOST = Kind::MOST[PARTS - 1];
    static constexpr bool COUNTS_NAN = false;
    static constexpr int INTEGERS = PARTS, WORDS = PARTS * Kind::WORDS;
    static constexpr bool SHARED = Kind::SHARES[PARTS - 1];
    static constexpr int THREADS = SHARED ? MOST : threads_of(PARTS * Kind::template Limbs<32>::COUNT);
    typedef typename LimbsOf<Kind, THREADS, SHARED>::type Limbs;
    static constexpr int STORAGE = PARTS * Limbs::STORAGE;
    typedef typename Kind::template Window<LANES> Window;
    static constexpr u32 ADDITIONS = Window::ADDITIONS;

    // Whether few numbers in windows are one whole number a part.
    static constexpr bool SMALL_PATH = Window::TWO_PHASE;

    Window window;
    Limbs limbs[PARTS];

    __device__ __forceinline__ explicit Sums(u64* storage) {
#pragma unroll
        for (int part = 0; part < PARTS; part++) limbs[part].open(storage + part * Limbs::STORAGE);
    }
    static constexpr u32 REACH = Window::REACH;
    template <class Term> __device__ __forceinline__ u32 distance(Term term) const {
        return window.distance(value_of(term));
    }
    template <class Term> __device__ __forceinline__ u32 field(Term term) const { return window.field(value_of(term)); }
    template <class Term> __device__ __forceinline__ void add(int lane, Term term) { add_term(window, lane, term); }
    template <class Term> __device__ __forceinline__ void add_to_limbs(int t, Term term) {
        add_term(limbs[t % PARTS], term);
    }
    static constexpr bool CHECKS = Limbs::CHECKS;
    template <class Term> __device__ __forceinline__ void add_plain_to_limbs(int t, Term term) {
        add_plain_term(limbs[t % PARTS], term);
    }
    __device__ __forceinline__ void waits(int terms) { limbs[0].waiting += terms / PARTS; }
    __device__ __forceinline__ bool covers(u32 field) const { return window.covers(field); }
    __device__ __forceinline__ void move(u32 field) { window.move(field); }
    __device__ __forceinline__ void drain() {
#pragma unroll
        for (int part = 0; part < PARTS; part++) window.template drain<PARTS>(part, limbs[part]);
    }
    __device__ __forceinline__ void settle() {
        if (limbs[0].waiting <= Limbs::ADDITIONS) return;
#pragma unroll
        for (int part = 0; part < PARTS; part++) limbs[part].settle();
        limbs[0].waiting = 1;
    }
    __device__ __forceinline__ void close_limbs() {
#pragma unroll
        for (int part = 0; part < PARTS; part++) limbs[part].close();
    }
    __device__ __forceinline__ u32 specials(int part) const { return limbs[part].specials; }
    // Of few numbers: those in the window below.
    static constexpr int BELOW = Window::BELOW;
    static constexpr u32 SMALL_REACH = Window::SMALL_REACH;
    f64 below[PARTS] = {};
    template <class Term> __device__ __forceinline__ void add_to_either(int lane, Term term) {
        const Wide x = value_of(term);
        const bool in_range = distance_or_zero(term) < SMALL_REACH;
        window.add(lane, in_range ? x : 0);
        below[lane % PARTS] = __dadd_rn(below[lane % PARTS], in_range ? 0 : x);
    }
    __device__ __forceinline__ bool in_below() const {
        bool any = false;
#pragma unroll
        for (int part = 0; part < PARTS; part++) any = any || below[part] != 0;
        return any;
    }
    __device__ __forceinline__ i64 whole_below(int part) const {
        if constexpr (BELOW > 0) return Window::integer_of(below[part], BELOW);
        else return 0;
    }
    // Limbs are zero from their first use on.
    __device__ __forceinline__ void expect_small() { window.expect_small(); }
    __device__ __forceinline__ bool in_limbs() const { return limbs[0].waiting != 0; }
    __device__ __forceinline__ void open_limbs() {
        if (in_limbs()) return;
#pragma unroll
        for (int part = 0; part < PARTS; part++) {
#pragma unroll 1
            for (int k = 0; k < Limbs::COUNT; k++) limbs[part].limb[k * THREADS] = 0;
        }
    }
    template <class Term> __device__ __forceinline__ u32 distance_or_zero(Term term) const {
        const Wide x = value_of(term);
        return x == 0 ? 0 : window.distance(x);
    }
    __device__ __forceinline__ i64 integer(int part) const {
        i64 sum = 0;
#pragma unroll
        for (int l = part; l < LANES; l += PARTS) sum += window.integer(l);
        return sum;
    }
    static __device__ __forceinline__ void finish_small_array(const WideSum* total, const Arguments& a) {
        if (!a.value || threadIdx.x != 0) return;
#pragma unroll
        for (int part = 0; part < PARTS; part++) {
            const u64 bits =
                round_wide_sum<typename FormatOf<Wide>::type>(total[part], Kind::UNIT + Window::SMALL_OFFSET - BELOW);
            set_bits(static_cast<Wide*>(a.value) + part, bits);
        }
    }
    static __device__ __forceinline__ void add_columns(const u64* storage, u64* word) {
#pragma unroll 1
        for (int part = 0; part < PARTS; part++) {
            ::add_columns<Limbs, Kind::WORDS>(storage + part * Limbs::STORAGE, word + part * Kind::WORDS);
        }
    }
    static __device__ __forceinline__ void finish(const u64* word, const SpecialValues& flags, u32* scratch,
                                                  const Arguments& a) {
#pragma unroll 1
        for (int part = 0; part < PARTS; part++) finish_sum<Kind, Wide>(word, part, flags, scratch, a);
    }
};

template <class E> using SumsOf = Sums<SumOf<typename Component<E>::type>, Parts<E>::COUNT, typename Parts<E>::Part>;
// Vectors of an array that a thread loads at once.
template <class E> constexpr int IN_FLIGHT = sizeof(typename Parts<E>::Part) == 8 ? 8 : Parts<E>::COUNT == 2 ? 6 : 4;
