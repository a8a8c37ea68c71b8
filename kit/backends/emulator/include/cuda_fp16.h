#pragma once
#include "kit_emulator/half.h"
