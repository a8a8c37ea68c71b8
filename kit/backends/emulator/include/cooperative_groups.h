// As in CUDA: tiles of at most 32 threads, coalesced groups, reductions and scans.
#pragma once
#include "kit_emulator/group_partitions.h"
#include "kit_emulator/group_reductions.h"
