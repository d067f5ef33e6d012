// Everything that C does for the comparison.
#pragma once

#include "load.h"
#include "probes.h"
#include "query.h"
#include "reference.h"
#include "replay.h"
#include "vectors.h"
