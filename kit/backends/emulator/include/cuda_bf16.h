#pragma once
#include "kit_emulator/bfloat16.h"
#include "kit_emulator/half.h"
