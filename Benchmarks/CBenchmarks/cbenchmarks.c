#include "cbenchmarks.h"
