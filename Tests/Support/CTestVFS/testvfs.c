#include "testvfs.h"
