// What it declares is always there in a cell.
#pragma once
