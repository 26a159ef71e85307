// What the compilers call by themselves, and a bare machine does not have. It is compiled so that no loop here becomes a call
// of the function that it is in.
#include "port.h"

// MARK: - Memory

void *memcpy(void *restrict to, const void *restrict from, size_t size) {
    unsigned char *target = to;
    const unsigned char *source = from;
    if ((((uintptr_t)to | (uintptr_t)from) & 3) == 0) {
        for (; size >= 4; size -= 4, target += 4, source += 4) *(uint32_t *)target = *(const uint32_t *)source;
    }
    while (size-- > 0) *target++ = *source++;
    return to;
}

void *memmove(void *to, const void *from, size_t size) {
    // A copy upwards reads nothing that it has overwritten, unless the target begins inside the source.
    if ((uintptr_t)to - (uintptr_t)from >= size) return memcpy(to, from, size);
    unsigned char *target = to;
    const unsigned char *source = from;
    while (size-- > 0) target[size] = source[size];
    return to;
}

void *memset(void *to, int byte, size_t size) {
    unsigned char *target = to;
    uint32_t word = (unsigned char)byte * 0x01010101u;
    for (; size > 0 && ((uintptr_t)target & 3) != 0; size--) *target++ = (unsigned char)byte;
    for (; size >= 4; size -= 4, target += 4) *(uint32_t *)target = word;
    while (size-- > 0) *target++ = (unsigned char)byte;
    return to;
}

// The names of Arm's run-time ABI: the digit promises an alignment, and memset has its arguments in another order.
void __aeabi_memcpy(void *to, const void *from, size_t size) { memcpy(to, from, size); }
void __aeabi_memmove(void *to, const void *from, size_t size) { memmove(to, from, size); }
void __aeabi_memset(void *to, size_t size, int byte) { memset(to, byte, size); }
void __aeabi_memclr(void *to, size_t size) { memset(to, 0, size); }
#define ALIAS(name, target) __typeof(target) name __attribute__((alias(#target)))
ALIAS(__aeabi_memcpy4, __aeabi_memcpy);
ALIAS(__aeabi_memcpy8, __aeabi_memcpy);
ALIAS(__aeabi_memmove4, __aeabi_memmove);
ALIAS(__aeabi_memmove8, __aeabi_memmove);
ALIAS(__aeabi_memset4, __aeabi_memset);
ALIAS(__aeabi_memset8, __aeabi_memset);
ALIAS(__aeabi_memclr4, __aeabi_memclr);
ALIAS(__aeabi_memclr8, __aeabi_memclr);

// MARK: - Arithmetic of 64 bits

// By halves, since a shift of 64 bits may itself be compiled to a call of these.
typedef union {
    uint64_t whole;
    struct {
        uint32_t low, high;
    } half;
} wide;

uint64_t __aeabi_llsl(uint64_t number, int count) {
    wide from = {number}, to;
    if (count >= 32) {
        to.half.high = from.half.low << (count - 32);
        to.half.low = 0;
    } else {
        to.half.high = from.half.high << count | (from.half.low >> 1) >> (31 - count);
        to.half.low = from.half.low << count;
    }
    return to.whole;
}

uint64_t __aeabi_llsr(uint64_t number, int count) {
    wide from = {number}, to;
    if (count >= 32) {
        to.half.low = from.half.high >> (count - 32);
        to.half.high = 0;
    } else {
        to.half.low = from.half.low >> count | (from.half.high << 1) << (31 - count);
        to.half.high = from.half.high >> count;
    }
    return to.whole;
}

int64_t __aeabi_lasr(int64_t number, int count) {
    uint64_t sign = number < 0 ? ~(uint64_t)0 : 0;
    return (int64_t)(__aeabi_llsr((uint64_t)number ^ sign, count) ^ sign);
}

static int leading_zeros(uint64_t number) {
    wide parts = {number};
    return parts.half.high ? __builtin_clz(parts.half.high) : parts.half.low ? 32 + __builtin_clz(parts.half.low) : 64;
}

// Long division in base two, from the first digit at which the divisor fits on.
__attribute__((used)) static uint64_t divide(uint64_t dividend, uint64_t divisor, uint64_t *remainder) {
    if (((dividend | divisor) >> 32) == 0 && divisor != 0) {
        uint32_t quotient = (uint32_t)dividend / (uint32_t)divisor;
        *remainder = (uint32_t)dividend - quotient * (uint32_t)divisor;
        return quotient;
    }
    uint64_t quotient = 0;
    if (divisor != 0 && divisor <= dividend) {
        int digit = leading_zeros(divisor) - leading_zeros(dividend);
        divisor = __aeabi_llsl(divisor, digit);
        for (; digit >= 0; digit--, divisor >>= 1) {
            quotient += quotient;
            if (dividend >= divisor) {
                dividend -= divisor;
                quotient++;
            }
        }
    }
    *remainder = dividend;
    return quotient;
}

// The remainder has the sign of the dividend.
__attribute__((used)) static int64_t divide_signed(int64_t dividend, int64_t divisor, int64_t *remainder) {
    uint64_t left = dividend < 0 ? -(uint64_t)dividend : (uint64_t)dividend, rest;
    uint64_t right = divisor < 0 ? -(uint64_t)divisor : (uint64_t)divisor;
    uint64_t quotient = divide(left, right, &rest);
    *remainder = (int64_t)(dividend < 0 ? -rest : rest);
    return (int64_t)((dividend ^ divisor) < 0 ? -quotient : quotient);
}

// The ABI wants the quotient in r0 and r1 and the remainder in r2 and r3, which C cannot say.
#define DIVISION(name, function)                                                                                            \
    __attribute__((naked)) void name(void) {                                                                                \
        __asm__ volatile("push {r4, lr}\n sub sp, #16\n add r4, sp, #8\n str r4, [sp]\n bl " #function                      \
                         "\n ldr r2, [sp, #8]\n ldr r3, [sp, #12]\n add sp, #16\n pop {r4, pc}");                           \
    }
DIVISION(__aeabi_uldivmod, divide)
DIVISION(__aeabi_ldivmod, divide_signed)

// MARK: - The rest

/// The seed for hashing. It is constant, so that every run executes the same instructions.
void arc4random_buf(void *memory, size_t size) { memset(memory, 4, size); }

uintptr_t __stack_chk_guard = 0x4C756C6C;

void __stack_chk_fail(void) {
    host_write("firmware: a function has overwritten its frame\n");
    host_exit(70);
}
