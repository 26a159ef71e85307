#pragma once
#include <stdbool.h>
#include <stdint.h>

bool counter_settles(uint8_t level);
