// The arrays of warpfold's CUDA benchmark, made from the same words in the same way:
// crates/warpfold-lab/src/cuda/data.rs says what each is for.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

enum class Data { Uniform, Normal, Positive, Wide, Alternating, Subnormal, Limbs };
constexpr const char* DATA_NAMES[] = {"uniform", "normal", "positive", "wide", "alternating", "subnormal", "limbs"};

// Marsaglia's xorshift64 (2003).
struct Words {
    uint64_t state = 1;
    uint64_t operator()() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state;
    }
};

template <class T> uint64_t bits_of(double x) {
    T narrow = T(x);
    uint64_t bits = 0;
    memcpy(&bits, &narrow, sizeof narrow);
    return bits;
}

template <class T> uint64_t number(Data data, uint64_t index, Words& random) {
    constexpr int BITS = 8 * sizeof(T), FRACTION = BITS == 64 ? 52 : 23;
    constexpr uint64_t FIELDS = (1ull << (BITS - 1 - FRACTION)) - 1, FAR = BITS == 64 ? 900 : 100,
                       DIGIT = BITS == 64 ? 53 : 16;
    auto of = [](uint64_t sign, uint64_t field, uint64_t fraction) {
        return (sign & 1) << (BITS - 1) | field << FRACTION | (fraction & ((1ull << FRACTION) - 1));
    };
    const uint64_t word = random();
    const double unit = double(word >> 11) / double(1ull << 53);
    const uint64_t fraction = word >> 12, sign = word >> 11;
    switch (data) {
        case Data::Uniform:
            return bits_of<T>(2 * unit - 1);
        case Data::Positive:
            return bits_of<T>(unit);
        case Data::Normal: {
            const double radius = sqrt(log(1 - unit) * -2);
            return bits_of<T>(radius * cos(2 * M_PI * (double(random() >> 11) / double(1ull << 53))));
        }
        case Data::Wide:
            return of(sign, (word & 0x7ff) * FIELDS >> 11, fraction);
        case Data::Alternating:
            return of(sign, FIELDS / 2 + FAR - index % 2 * 2 * FAR, fraction);
        case Data::Subnormal:
            return of(sign, 0, fraction | 1);
        case Data::Limbs:
            return of(sign, 1 + index * DIGIT % (FIELDS - 1), 0);
    }
    return 0;
}

template <class T> std::vector<unsigned long long> words_of(Data data, size_t count) {
    constexpr int EACH = 8 / sizeof(T);
    Words random;
    std::vector<unsigned long long> words(count);
    for (size_t at = 0; at < count; at++) {
        for (int k = 0; k < EACH; k++) words[at] |= number<T>(data, at * EACH + k, random) << (k * 8 * sizeof(T) % 64);
    }
    return words;
}
