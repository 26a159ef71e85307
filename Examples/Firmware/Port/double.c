// Arithmetic of doubles without a unit for them. Swift's Dictionary computes its sizes with it: small positive numbers, so
// that what is too small for a normal double may count as zero here. All else is rounded as IEEE 754 says.
#include "port.h"

typedef union {
    double number;
    uint64_t bits;
} image;

enum { bias = 1023, top = 52, greatest = 2047 };

static const uint64_t one = (uint64_t)1 << top, sign_bit = (uint64_t)1 << 63, infinity = (uint64_t)greatest << top;
static const uint64_t not_a_number = (uint64_t)greatest << top | (uint64_t)1 << (top - 1);

// Compares bits, since a comparison of doubles would be a call of the functions below.
static int exponent(image value) { return (int)(value.bits >> top & greatest); }
static uint64_t mantissa(image value) { return (value.bits & (one - 1)) | one; }
static uint64_t magnitude(image value) { return value.bits & ~sign_bit; }
static int is_nan(image value) { return magnitude(value) > infinity; }

// Makes a double of 55 bits: the 53 of the mantissa, one to round by, and one that is set if anything lower is.
static double pack(uint64_t sign, int power, uint64_t digits) {
    if (digits >> (top + 2) == 0) {
        digits <<= 1;
        power--;
    }
    uint64_t rest = digits & 3, rounded = digits >> 2;
    rounded += rest == 3 || (rest == 2 && (rounded & 1));
    if (rounded >> (top + 1)) {
        rounded >>= 1;
        power++;
    }
    image result = {.bits = sign};
    if (power >= greatest) result.bits |= infinity;
    else if (power > 0) result.bits |= (uint64_t)power << top | (rounded & (one - 1));
    return result.number;
}

double __aeabi_dmul(double left, double right) {
    image a = {left}, b = {right}, result = {.bits = (a.bits ^ b.bits) & sign_bit};
    uint64_t sign = result.bits;
    if (exponent(a) == greatest || exponent(b) == greatest) {
        int undefined = is_nan(a) || is_nan(b) || exponent(a) == 0 || exponent(b) == 0;
        result.bits = undefined ? not_a_number : sign | infinity;
        return result.number;
    }
    if (exponent(a) == 0 || exponent(b) == 0) return result.number;
    // A product of 105 or 106 bits in two words, by halves.
    uint64_t m = mantissa(a), n = mantissa(b), half = 0xFFFFFFFF;
    uint64_t low = (m & half) * (n & half), middle = (m >> 32) * (n & half) + (low >> 32);
    uint64_t other = (m & half) * (n >> 32) + (middle & half);
    uint64_t high = (m >> 32) * (n >> 32) + (middle >> 32) + (other >> 32);
    low = other << 32 | (low & half);
    // The product is shifted by 51 bits, so that 2 bits are left below the mantissa if it has 106.
    uint64_t digits = high << 13 | low >> 51;
    // One more if it has 105: the bits that are shifted out have to be kept till then.
    if (digits >> (top + 2) == 0) {
        digits = high << 14 | low >> 50;
        return pack(sign, exponent(a) + exponent(b) - bias, digits | ((low << 14) != 0));
    }
    return pack(sign, exponent(a) + exponent(b) - bias + 1, digits | ((low << 13) != 0));
}

double __aeabi_ddiv(double left, double right) {
    image a = {left}, b = {right}, result = {.bits = (a.bits ^ b.bits) & sign_bit};
    if (is_nan(a) || is_nan(b) || (exponent(a) == 0 && exponent(b) == 0) ||
        (exponent(a) == greatest && exponent(b) == greatest)) {
        result.bits = not_a_number;
        return result.number;
    }
    if (exponent(a) == greatest || exponent(b) == 0) {
        result.bits |= infinity;
        return result.number;
    }
    if (exponent(a) == 0 || exponent(b) == greatest) return result.number;
    int power = exponent(a) - exponent(b) + bias;
    uint64_t rest = mantissa(a), divisor = mantissa(b), digits = 0;
    if (rest < divisor) {
        rest <<= 1;
        power--;
    }
    for (int digit = 0; digit < top + 3; digit++, rest <<= 1) {
        digits <<= 1;
        if (rest >= divisor) {
            rest -= divisor;
            digits |= 1;
        }
    }
    return pack(result.bits, power, digits | (rest != 0));
}

double __aeabi_ui2d(uint32_t number) {
    image result = {.bits = 0};
    if (number != 0) {
        int zeros = __builtin_clz(number);
        result.bits = (uint64_t)(bias + 31 - zeros) << top | ((((uint64_t)number << zeros) << (top - 31)) & (one - 1));
    }
    return result.number;
}

double __aeabi_i2d(int32_t number) {
    image result = {__aeabi_ui2d(number < 0 ? -(uint32_t)number : (uint32_t)number)};
    if (number < 0) result.bits |= sign_bit;
    return result.number;
}

/// Rounds towards zero. What does not fit becomes the nearest that does.
int32_t __aeabi_d2iz(double number) {
    image value = {number};
    int power = exponent(value) - bias, negative = value.bits >> 63 != 0;
    if (power < 0 || is_nan(value)) return 0;
    if (power > 30) return negative ? INT32_MIN : INT32_MAX;
    int32_t whole = (int32_t)(mantissa(value) >> (top - power));
    return negative ? -whole : whole;
}

double ceil(double number) {
    image value = {number};
    int power = exponent(value) - bias;
    if (power >= top || magnitude(value) == 0) return number;
    if (power < 0) {
        value.bits = value.bits >> 63 ? sign_bit : (uint64_t)bias << top;
        return value.number;
    }
    uint64_t fraction = (one - 1) >> power;
    if (value.bits & fraction && !(value.bits >> 63)) value.bits += fraction;  // May carry into the exponent, as it should.
    value.bits &= ~fraction;
    return value.number;
}

// Bits of doubles are in the order of the numbers, once those of negative ones are turned around.
static int64_t order(image value) { return value.bits >> 63 ? -(int64_t)magnitude(value) : (int64_t)value.bits; }

#define COMPARISON(name, operator)                                                                                          \
    int name(double left, double right) {                                                                                   \
        image a = {left}, b = {right};                                                                                      \
        return !is_nan(a) && !is_nan(b) && order(a) operator order(b);                                                      \
    }
COMPARISON(__aeabi_dcmpeq, ==)
COMPARISON(__aeabi_dcmplt, <)
COMPARISON(__aeabi_dcmple, <=)
COMPARISON(__aeabi_dcmpgt, >)
COMPARISON(__aeabi_dcmpge, >=)

int __aeabi_dcmpun(double left, double right) {
    image a = {left}, b = {right};
    return is_nan(a) || is_nan(b);
}
