/* The compiled guard: recognises the calls whose arguments all pass as they are, and runs them.
 *
 * `Guard` is the base class of `PyccelKernel`. `_arm` gives it a table made from the signature
 * (kit/guard_table.py); a call then checks each argument against it and hands the very tuple that
 * it was called with to the compiled function. Whatever it does not recognise goes to the method
 * `_call_otherwise`, which decides by facts and plan: so the guard may be too narrow, and must
 * never be too wide. kit/guard.py is its twin in Python; a property test shows that both decide
 * alike.
 *
 * Nothing is allocated on the way to the compiled function, unless arguments are given by keyword
 * or left out (a tuple), or two arrays interleave in a way that only NumPy can tell apart.
 *
 * The steps of an array are the rule of kit/boundary/strides.py, measured on Pyccel 2.2.3.
 */

#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <Python.h>
#include <math.h>
#include <string.h>

#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>

/* One name when it is part of the package, another for each build in the store. */
#ifndef KIT_GUARD_MODULE
#define KIT_GUARD_MODULE _guard
#endif
#define NAMED(name) #name
#define TEXT_OF(name) NAMED(name)
#define JOINED(a, b) a##b
#define INIT_OF(name) JOINED(PyInit_, name)

/* Digest of this file: a library that was built from another text is not used. */
#ifndef KIT_GUARD_SOURCE
#define KIT_GUARD_SOURCE ""
#endif

#define MOST_PARAMETERS 64
#define MOST_VARIANTS 4
#define MOST_AXES 16
#define MOST_PAIRS (MOST_PARAMETERS * (MOST_PARAMETERS - 1) / 2)

/* Pyccel's C arrays (STC's cspan) keep extents and strides as int32, in elements. */
#define C_INDEX_LIMIT ((npy_intp)1 << 31)

typedef enum { ARRAY, BOOL, INT, EXACT, COMPLEX, STR } Kind;

typedef struct {
    Kind kind;
    char optional; /* None passes */
    /* arrays */
    char written;
    char fortran_order;
    int rank;
    npy_intp itemsize;
    PyArray_Descr *descr;
    /* scalars: the exact types that pass */
    PyTypeObject *types[2];
    long long low, high;
} Expected;

typedef struct {
    int parameter;
    int axis; /* -1: the value of an integer argument */
    npy_int64 factor;
} Term;

typedef struct {
    int n_terms;
    Term *terms;
    npy_int64 number;
} Linear;

typedef struct {
    int n_when;
    Linear *when;
    Linear need;
    char is_equal;
} Rule;

/* Where one array lies: what is needed to see that two have no byte in common. */
typedef struct {
    PyArrayObject *array;
    const char *low;
    const char *end;
    char written;
} Extent;

typedef struct {
    int n_parameters;
    int n_positional; /* keyword-only parameters follow */
    int n_variants;
    int n_rules;
    char c_indices; /* the kernel is C: int32 indices */
    char any_written;
    PyObject *function;
    PyObject **names;    /* interned */
    PyObject **keywords; /* the wrapper's own, of keyword-only parameters */
    PyObject **defaults; /* NULL where there is none */
    PyObject *choices;   /* a list; empty while nobody has chosen a target */
    PyObject *independent;
    Expected *expected; /* n_variants times n_parameters */
    Rule *rules;
} Table;

typedef struct {
    PyObject_HEAD
    Table *table;
} Guard;

static PyObject *call_otherwise; /* the name of the slow path */

/* ---- arrays ------------------------------------------------------------------------------- */

static int
is_contiguous(const Expected *expected, const npy_intp *shape, const npy_intp *strides)
{
    npy_intp step = expected->itemsize;
    for (int k = 0; k < expected->rank; k++) {
        int axis = expected->fortran_order ? k : expected->rank - 1 - k;
        if (shape[axis] > 1 && strides[axis] != step) {
            return 0;
        }
        step *= shape[axis];
    }
    return 1;
}

/* Gapless, with the one stride on each axis that follows from the extents; the usual array. */
static int
is_plain(const Expected *expected, const npy_intp *shape, const npy_intp *strides, char c_indices)
{
    npy_intp step = expected->itemsize;
    for (int k = 0; k < expected->rank; k++) {
        int axis = expected->fortran_order ? k : expected->rank - 1 - k;
        if (strides[axis] != step || shape[axis] <= 0) {
            return 0;
        }
        step *= shape[axis];
    }
    return !c_indices || step / expected->itemsize < C_INDEX_LIMIT;
}

/* kit/boundary/strides.py, why_not_in_place */
static int
is_in_place(const Expected *expected, PyArrayObject *array, char c_indices)
{
    const npy_intp *shape = PyArray_DIMS(array), *strides = PyArray_STRIDES(array);
    const npy_intp itemsize = expected->itemsize;
    npy_intp divisor = itemsize, previous = 0, extent = 1;

    for (int k = 0; k < expected->rank; k++) {
        int axis = expected->fortran_order ? k : expected->rank - 1 - k;
        npy_intp step = strides[axis], count = shape[axis];
        if (count <= 0 || step <= 0 || step % itemsize) {
            return 0;
        }
        if (k == 0) {
            npy_intp reach;
            if (__builtin_mul_overflow(count, step, &reach)) {
                return 0;
            }
            if (c_indices && (step / itemsize >= C_INDEX_LIMIT || reach / itemsize >= C_INDEX_LIMIT)) {
                return 0;
            }
            extent = (reach - step) / itemsize + 1;
            divisor = itemsize;
        }
        else {
            if (step < previous || step % divisor || step / divisor < extent) {
                return 0;
            }
            if (c_indices && (step / itemsize >= C_INDEX_LIMIT || step / divisor >= C_INDEX_LIMIT)) {
                return 0;
            }
            extent = count;
            divisor = step;
        }
        previous = step;
    }
    /* A wrapper ignores the strides of an array that is no view. */
    return PyArray_BASE(array) != NULL || is_contiguous(expected, shape, strides);
}

static int
passes_array(const Expected *expected, PyObject *value, char c_indices, Extent *extent)
{
    if (!PyArray_CheckExact(value)) {
        return 0;
    }
    PyArrayObject *array = (PyArrayObject *)value;
    if (PyArray_DESCR(array) != expected->descr || PyArray_NDIM(array) != expected->rank) {
        return 0;
    }
    int flags = PyArray_FLAGS(array);
    if (!(flags & NPY_ARRAY_ALIGNED) || (expected->written && !(flags & NPY_ARRAY_WRITEABLE))) {
        return 0;
    }
    const npy_intp *shape = PyArray_DIMS(array), *strides = PyArray_STRIDES(array);
    if (!is_plain(expected, shape, strides, c_indices)
        && !is_in_place(expected, array, c_indices)) {
        return 0;
    }
    npy_intp reach = expected->itemsize;
    for (int axis = 0; axis < expected->rank; axis++) {
        reach += (shape[axis] - 1) * strides[axis]; /* every stride is positive */
    }
    extent->array = array;
    extent->low = PyArray_BYTES(array);
    extent->end = extent->low + reach;
    extent->written = expected->written;
    return 1;
}

/* ---- what two arrays have in common ------------------------------------------------------- */

static npy_intp
common_divisor(npy_intp a, npy_intp b)
{
    while (b != 0) {
        npy_intp rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static npy_intp
common_step(PyArrayObject *array, npy_intp divisor)
{
    for (int axis = 0; axis < PyArray_NDIM(array); axis++) {
        if (PyArray_DIM(array, axis) > 1) {
            divisor = common_divisor(PyArray_STRIDE(array, axis), divisor);
        }
    }
    return divisor;
}

/* Every other element, columns, real and imaginary parts: apart, whatever the indices. */
static int
interleave(const Extent *a, const Extent *b)
{
    npy_intp step = common_step(b->array, common_step(a->array, 0));
    if (step == 0) {
        return 0;
    }
    npy_intp between = (b->low - a->low) % step; /* a lies first */
    return between >= PyArray_ITEMSIZE(a->array) && step - between >= PyArray_ITEMSIZE(b->array);
}

/* Whether both are boxes of one array, side by side: the same strides, which step over all that
 * the inner axes of the two together span. `a` lies first. */
static int
lie_side_by_side(const Extent *a, const Extent *b)
{
    const int rank = PyArray_NDIM(a->array);
    if (PyArray_NDIM(b->array) != rank || PyArray_ITEMSIZE(a->array) != PyArray_ITEMSIZE(b->array)) {
        return 0;
    }
    /* Axes by falling stride; ranks are small. */
    int axes[MOST_AXES];
    for (int k = 0; k < rank; k++) {
        int axis = k, at = k;
        if (PyArray_STRIDE(a->array, k) != PyArray_STRIDE(b->array, k)) {
            return 0;
        }
        while (at > 0 && PyArray_STRIDE(a->array, axes[at - 1]) < PyArray_STRIDE(a->array, axis)) {
            axes[at] = axes[at - 1];
            at--;
        }
        axes[at] = axis;
    }
    npy_intp rest = b->low - a->low, shift[MOST_AXES];
    for (int k = 0; k < rank; k++) {
        shift[k] = rest / PyArray_STRIDE(a->array, axes[k]);
        rest %= PyArray_STRIDE(a->array, axes[k]);
    }
    if (rest != 0) {
        return 0;
    }
    int is_apart = 0;
    npy_intp reach = PyArray_ITEMSIZE(a->array);
    for (int k = rank - 1; k >= 0; k--) {
        npy_intp step = PyArray_STRIDE(a->array, axes[k]);
        npy_intp count = PyArray_DIM(a->array, axes[k]);
        npy_intp last = shift[k] + PyArray_DIM(b->array, axes[k]);
        if (step < reach) {
            return 0; /* an address has more than one index: this proves nothing */
        }
        if (shift[k] >= count) {
            is_apart = 1;
        }
        reach += ((last > count ? last : count) - 1) * step;
    }
    return is_apart;
}

/* Whether they surely have no byte in common, as far as can be seen without NumPy. */
static int
are_apart(const Extent *a, const Extent *b)
{
    if (a->end <= b->low || b->end <= a->low) {
        return 1;
    }
    if (a->array == b->array) {
        return 0;
    }
    if (b->low < a->low) {
        const Extent *first = b;
        b = a;
        a = first;
    }
    return interleave(a, b) || lie_side_by_side(a, b);
}

/* 1 where they have no byte in common, 0 where they have or that is too hard to tell, -1 where
 * an exception was raised. */
static int
ask_whether_independent(const Table *table, const Extent *a, const Extent *b)
{
    PyObject *answer = PyObject_CallFunctionObjArgs(
        table->independent, (PyObject *)a->array, (PyObject *)b->array, NULL);
    if (answer == NULL) {
        return -1;
    }
    int is_independent = PyObject_IsTrue(answer);
    Py_DECREF(answer);
    return is_independent;
}

/* No written array has a byte in common with another one: 1, 0 or -1 as above. */
static int
share_nothing(const Table *table, const Extent *extents, int count, int *has_asked)
{
    unsigned char hard[MOST_PAIRS][2];
    int n_hard = 0;
    for (int one = 0; one < count; one++) {
        if (!extents[one].written) {
            continue;
        }
        for (int other = 0; other < count; other++) {
            if (other == one || (other < one && extents[other].written)) {
                continue; /* itself, or a pair that was looked at already */
            }
            if (are_apart(&extents[one], &extents[other])) {
                continue;
            }
            if (extents[one].array == extents[other].array) {
                return 0;
            }
            hard[n_hard][0] = (unsigned char)one;
            hard[n_hard++][1] = (unsigned char)other;
        }
    }
    /* Last, because other threads run while Python is asked: they may change an array's strides. */
    for (int k = 0; k < n_hard; k++) {
        int answer = ask_whether_independent(table, &extents[hard[k][0]], &extents[hard[k][1]]);
        if (answer != 1) {
            return answer;
        }
    }
    *has_asked = n_hard > 0;
    return 1;
}

/* ---- scalars ------------------------------------------------------------------------------ */

static int
passes_int(const Expected *expected, PyObject *value)
{
    if (!PyLong_CheckExact(value)) {
        return 0;
    }
    int overflow = 0;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    return !overflow && number >= expected->low && number <= expected->high;
}

static int
passes_complex(PyObject *value)
{
    /* 2.2.3 multiplies the imaginary part with i: inf and nan make another number. */
    if (PyComplex_Check(value)) { /* complex128, too */
        return isfinite(PyComplex_ImagAsDouble(value));
    }
    float parts[2];
    memcpy(parts, &PyArrayScalar_VAL(value, CFloat), sizeof(parts));
    return isfinite(parts[1]);
}

static int
passes_text(PyObject *value)
{
    if (!PyUnicode_CheckExact(value) || !PyUnicode_IS_ASCII(value)) {
        return 0;
    }
    return memchr(PyUnicode_1BYTE_DATA(value), 0, PyUnicode_GET_LENGTH(value)) == NULL;
}

static int
passes_scalar(const Expected *expected, PyObject *value)
{
    switch (expected->kind) {
    case BOOL:
        return value == Py_True || value == Py_False;
    case INT:
        return passes_int(expected, value);
    case EXACT:
        return Py_IS_TYPE(value, expected->types[0]) || Py_IS_TYPE(value, expected->types[1]);
    case COMPLEX:
        return (Py_IS_TYPE(value, expected->types[0]) || Py_IS_TYPE(value, expected->types[1]))
               && passes_complex(value);
    case STR:
        return passes_text(value);
    default:
        return 0;
    }
}

/* ---- rules between extents ---------------------------------------------------------------- */

/* Whether the number of an integer argument that has passed is known here. */
static int
integer_value(PyObject *value, npy_int64 *number)
{
    if (PyLong_CheckExact(value)) {
        *number = PyLong_AsLongLong(value); /* in range: it has passed */
        return 1;
    }
    if (PyArray_IsScalar(value, Int64)) {
        *number = PyArrayScalar_VAL(value, Int64);
    }
    else if (PyArray_IsScalar(value, Int32)) {
        *number = PyArrayScalar_VAL(value, Int32);
    }
    else if (PyArray_IsScalar(value, Int16)) {
        *number = PyArrayScalar_VAL(value, Int16);
    }
    else if (PyArray_IsScalar(value, Int8)) {
        *number = PyArrayScalar_VAL(value, Int8);
    }
    else {
        return 0;
    }
    return 1;
}

typedef enum { KNOWN, ABSENT, UNKNOWN } Answer;

static Answer
evaluate(const Linear *linear, PyObject *const *values, __int128 *result)
{
    __int128 sum = linear->number;
    for (int k = 0; k < linear->n_terms; k++) {
        const Term *term = &linear->terms[k];
        PyObject *value = values[term->parameter];
        npy_int64 number;
        if (value == Py_None) {
            return ABSENT;
        }
        if (term->axis >= 0) {
            number = PyArray_DIM((PyArrayObject *)value, term->axis);
        }
        else if (!integer_value(value, &number)) {
            return UNKNOWN;
        }
        sum += (__int128)term->factor * number;
    }
    *result = sum;
    return KNOWN;
}

/* kit/source/extent_rules.py, ExtentRule.holds */
static int
holds(const Rule *rule, PyObject *const *values)
{
    __int128 number;
    Answer answer;
    int counts = 1;
    for (int k = 0; k < rule->n_when; k++) {
        answer = evaluate(&rule->when[k], values, &number);
        if (answer != KNOWN) {
            return answer == ABSENT;
        }
        counts = counts && number >= 0;
    }
    answer = evaluate(&rule->need, values, &number);
    if (answer != KNOWN) {
        return answer == ABSENT;
    }
    return !counts || (rule->is_equal ? number == 0 : number >= 0);
}

/* ---- a call ------------------------------------------------------------------------------- */

/* How many arrays there are where each value by itself and the rules pass, else -1. */
static int
fits_variant(const Table *table, const Expected *expected, PyObject *const *values, Extent *extents)
{
    int n_arrays = 0;
    for (int k = 0; k < table->n_parameters; k++) {
        const Expected *one = &expected[k];
        if (one->optional && values[k] == Py_None) {
            continue;
        }
        if (one->kind != ARRAY) {
            if (!passes_scalar(one, values[k])) {
                return -1;
            }
        }
        else if (!passes_array(one, values[k], table->c_indices, &extents[n_arrays++])) {
            return -1;
        }
    }
    for (int k = 0; k < table->n_rules; k++) {
        if (!holds(&table->rules[k], values)) {
            return -1;
        }
    }
    return n_arrays;
}

/* 1 where all pass, 0 where not, -1 where an exception was raised. */
static int
passes_variant(const Table *table, const Expected *expected, PyObject *const *values)
{
    Extent extents[MOST_PARAMETERS];
    int n_arrays = fits_variant(table, expected, values, extents);
    if (n_arrays < 0) {
        return 0;
    }
    int has_asked = 0;
    int answer = table->any_written ? share_nothing(table, extents, n_arrays, &has_asked) : 1;
    if (answer == 1 && has_asked) {
        /* Another thread ran meanwhile; from here to the compiled function none does. */
        Extent again[MOST_PARAMETERS];
        if (fits_variant(table, expected, values, again) != n_arrays) {
            return 0;
        }
        for (int k = 0; k < n_arrays; k++) {
            if (again[k].low != extents[k].low || again[k].end != extents[k].end) {
                return 0;
            }
        }
    }
    return answer;
}

static int
passes(const Table *table, PyObject *const *values)
{
    for (int k = 0; k < table->n_variants; k++) {
        int answer = passes_variant(table, &table->expected[k * table->n_parameters], values);
        if (answer != 0) {
            return answer;
        }
    }
    return 0;
}

static int
index_of_name(const Table *table, PyObject *name)
{
    for (int k = 0; k < table->n_parameters; k++) {
        if (table->names[k] == name) {
            return k;
        }
    }
    for (int k = 0; k < table->n_parameters; k++) {
        if (table->names[k] != NULL && PyUnicode_Compare(table->names[k], name) == 0) {
            return k;
        }
    }
    return -1;
}

/* Borrowed values in parameter order. 0 where the arguments do not fit the parameters, which
 * Python itself then says on the slow path. */
static int
bind(const Table *table, PyObject *args, PyObject *kwargs, PyObject **values)
{
    Py_ssize_t n_given = PyTuple_GET_SIZE(args);
    if (n_given > table->n_positional) {
        return 0;
    }
    for (int k = 0; k < table->n_parameters; k++) {
        values[k] = k < n_given ? PyTuple_GET_ITEM(args, k) : NULL;
    }
    if (kwargs != NULL) {
        PyObject *name, *value;
        Py_ssize_t position = 0;
        while (PyDict_Next(kwargs, &position, &name, &value)) {
            /* `f(**{1: 2})` comes here, too. */
            int k = PyUnicode_Check(name) ? index_of_name(table, name) : -1;
            if (k < 0 || values[k] != NULL) {
                return 0;
            }
            values[k] = value;
        }
    }
    for (int k = 0; k < table->n_parameters; k++) {
        if (values[k] == NULL) {
            values[k] = table->defaults[k];
        }
        if (values[k] == NULL) {
            return 0;
        }
    }
    return 1;
}

/* Call with keyword-only parameters under the wrapper's names, and all others by position. */
static PyObject *
call_bound(const Table *table, PyObject *const *values)
{
    PyObject *result = NULL, *keywords = NULL;
    PyObject *positional = PyTuple_New(table->n_positional);
    if (positional == NULL) {
        return NULL;
    }
    for (int k = 0; k < table->n_positional; k++) {
        PyTuple_SET_ITEM(positional, k, Py_NewRef(values[k]));
    }
    if (table->n_positional < table->n_parameters) {
        keywords = PyDict_New();
        if (keywords == NULL) {
            goto done;
        }
        for (int k = table->n_positional; k < table->n_parameters; k++) {
            if (PyDict_SetItem(keywords, table->keywords[k], values[k]) < 0) {
                goto done;
            }
        }
    }
    result = PyObject_Call(table->function, positional, keywords);
done:
    Py_DECREF(positional);
    Py_XDECREF(keywords);
    return result;
}

/* The kernel's result; NotImplemented, which no kernel returns, where not all arguments pass. */
static PyObject *
try_fast(const Table *table, PyObject *args, PyObject *kwargs)
{
    PyObject *bound[MOST_PARAMETERS];
    if (kwargs != NULL && PyDict_GET_SIZE(kwargs) == 0) {
        kwargs = NULL;
    }
    if (kwargs == NULL && table->n_positional == table->n_parameters
        && PyTuple_GET_SIZE(args) == table->n_parameters) {
        int answer = passes(table, ((PyTupleObject *)args)->ob_item);
        if (answer == 1) {
            return PyObject_Call(table->function, args, NULL);
        }
        return answer < 0 ? NULL : Py_NewRef(Py_NotImplemented);
    }
    int answer = bind(table, args, kwargs, bound) ? passes(table, bound) : 0;
    if (answer == 1) {
        return call_bound(table, bound);
    }
    return answer < 0 ? NULL : Py_NewRef(Py_NotImplemented);
}

static PyObject *
guard_call(PyObject *self, PyObject *args, PyObject *kwargs)
{
    const Table *table = ((Guard *)self)->table;
    if (table != NULL && PyList_GET_SIZE(table->choices) == 0) {
        PyObject *result = try_fast(table, args, kwargs);
        if (result != Py_NotImplemented) {
            return result;
        }
        Py_DECREF(result);
    }
    PyObject *keywords = kwargs != NULL ? Py_NewRef(kwargs) : PyDict_New();
    if (keywords == NULL) {
        return NULL;
    }
    PyObject *result = PyObject_CallMethodObjArgs(self, call_otherwise, args, keywords, NULL);
    Py_DECREF(keywords);
    return result;
}

static PyObject *
guard_fast(PyObject *self, PyObject *args, PyObject *kwargs)
{
    const Table *table = ((Guard *)self)->table;
    return table == NULL ? Py_NewRef(Py_NotImplemented) : try_fast(table, args, kwargs);
}

static PyObject *
guard_passes(PyObject *self, PyObject *args, PyObject *kwargs)
{
    PyObject *bound[MOST_PARAMETERS];
    const Table *table = ((Guard *)self)->table;
    int answer = table != NULL && bind(table, args, kwargs, bound) ? passes(table, bound) : 0;
    return answer < 0 ? NULL : PyBool_FromLong(answer);
}

/* ---- the table ---------------------------------------------------------------------------- */

static void
free_linear(Linear *linear)
{
    PyMem_Free(linear->terms);
}

static void
free_table(Table *table)
{
    if (table == NULL) {
        return;
    }
    for (int k = 0; k < table->n_parameters; k++) {
        Py_XDECREF(table->names[k]);
        Py_XDECREF(table->keywords[k]);
        Py_XDECREF(table->defaults[k]);
    }
    for (int k = 0; table->expected != NULL && k < table->n_variants * table->n_parameters; k++) {
        Py_XDECREF(table->expected[k].descr);
        Py_XDECREF(table->expected[k].types[0]);
        Py_XDECREF(table->expected[k].types[1]);
    }
    for (int k = 0; table->rules != NULL && k < table->n_rules; k++) {
        Rule *rule = &table->rules[k];
        for (int j = 0; rule->when != NULL && j < rule->n_when; j++) {
            free_linear(&rule->when[j]);
        }
        PyMem_Free(rule->when);
        free_linear(&rule->need);
    }
    Py_XDECREF(table->function);
    Py_XDECREF(table->choices);
    Py_XDECREF(table->independent);
    PyMem_Free(table->names);
    PyMem_Free(table->keywords);
    PyMem_Free(table->defaults);
    PyMem_Free(table->expected);
    PyMem_Free(table->rules);
    PyMem_Free(table);
}

static void *
zeros(Py_ssize_t count, size_t size)
{
    void *memory = PyMem_Calloc(count > 0 ? count : 1, size);
    if (memory == NULL) {
        PyErr_NoMemory();
    }
    return memory;
}

static int
is_row(PyObject *row)
{
    if (!PyTuple_Check(row)) {
        PyErr_SetString(PyExc_TypeError, "guard: a row of the table is a tuple");
        return 0;
    }
    return 1;
}

/* (kind, optional, what the kind needs ...), as guard_table.py writes it */
static int
read_expected(PyObject *row, Expected *expected)
{
    int kind, optional;
    PyObject *rest;
    if (!is_row(row) || !PyArg_ParseTuple(row, "ipO!", &kind, &optional, &PyTuple_Type, &rest)) {
        return -1;
    }
    expected->kind = (Kind)kind;
    expected->optional = (char)optional;
    if (kind == ARRAY) {
        int written, fortran_order;
        PyObject *descr;
        if (!PyArg_ParseTuple(rest, "O!ipp", &PyArrayDescr_Type, &descr, &expected->rank,
                              &fortran_order, &written)) {
            return -1;
        }
        expected->descr = (PyArray_Descr *)Py_NewRef(descr);
        expected->itemsize = PyDataType_ELSIZE(expected->descr);
        expected->fortran_order = (char)fortran_order;
        expected->written = (char)written;
        if (expected->rank < 1 || expected->rank > MOST_AXES || expected->itemsize < 1) {
            PyErr_SetString(PyExc_ValueError, "guard: rank or element size out of range");
            return -1;
        }
        return 0;
    }
    if (kind == INT) {
        return PyArg_ParseTuple(rest, "LL", &expected->low, &expected->high) ? 0 : -1;
    }
    if (kind == EXACT || kind == COMPLEX) {
        PyObject *first, *second;
        if (!PyArg_ParseTuple(rest, "O!O!", &PyType_Type, &first, &PyType_Type, &second)) {
            return -1;
        }
        expected->types[0] = (PyTypeObject *)Py_NewRef(first);
        expected->types[1] = (PyTypeObject *)Py_NewRef(second);
        return 0;
    }
    if (kind != BOOL && kind != STR) {
        PyErr_Format(PyExc_ValueError, "guard: no kind %d", kind);
        return -1;
    }
    return 0;
}

/* Whether a term asks every variant for what it has: an axis of an array, an integer's value. */
static int
check_term(const Table *table, const Term *term)
{
    int fits = term->parameter >= 0 && term->parameter < table->n_parameters;
    for (int k = 0; fits && k < table->n_variants; k++) {
        const Expected *one = &table->expected[k * table->n_parameters + term->parameter];
        fits = term->axis < 0 ? one->kind == INT || one->kind == EXACT
                              : one->kind == ARRAY && term->axis < one->rank;
    }
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "guard: a rule asks for what no argument has");
    }
    return fits ? 0 : -1;
}

/* (number, ((parameter, axis, factor), ...)) */
static int
read_linear(const Table *table, PyObject *row, Linear *linear)
{
    PyObject *terms;
    long long number;
    if (!is_row(row) || !PyArg_ParseTuple(row, "LO!", &number, &PyTuple_Type, &terms)) {
        return -1;
    }
    linear->number = number;
    linear->terms = zeros(PyTuple_GET_SIZE(terms), sizeof(Term));
    if (linear->terms == NULL) {
        return -1;
    }
    linear->n_terms = (int)PyTuple_GET_SIZE(terms);
    for (int k = 0; k < linear->n_terms; k++) {
        Term *term = &linear->terms[k];
        long long factor;
        PyObject *item = PyTuple_GET_ITEM(terms, k);
        if (!is_row(item) || !PyArg_ParseTuple(item, "iiL", &term->parameter, &term->axis,
                              &factor)
            || check_term(table, term) < 0) {
            return -1;
        }
        term->factor = factor;
    }
    return 0;
}

/* ((linear, ...), linear, is_equal) */
static int
read_rule(const Table *table, PyObject *row, Rule *rule)
{
    PyObject *when, *need;
    int is_equal;
    if (!is_row(row)
        || !PyArg_ParseTuple(row, "O!O!p", &PyTuple_Type, &when, &PyTuple_Type, &need, &is_equal)) {
        return -1;
    }
    rule->is_equal = (char)is_equal;
    rule->when = zeros(PyTuple_GET_SIZE(when), sizeof(Linear));
    if (rule->when == NULL) {
        return -1;
    }
    rule->n_when = (int)PyTuple_GET_SIZE(when);
    for (int k = 0; k < rule->n_when; k++) {
        if (read_linear(table, PyTuple_GET_ITEM(when, k), &rule->when[k]) < 0) {
            return -1;
        }
    }
    return read_linear(table, need, &rule->need);
}

static int
read_parameters(PyObject *rows, Table *table)
{
    table->names = zeros(PyTuple_GET_SIZE(rows), sizeof(PyObject *));
    table->keywords = zeros(PyTuple_GET_SIZE(rows), sizeof(PyObject *));
    table->defaults = zeros(PyTuple_GET_SIZE(rows), sizeof(PyObject *));
    if (table->names == NULL || table->keywords == NULL || table->defaults == NULL) {
        return -1;
    }
    table->n_parameters = (int)PyTuple_GET_SIZE(rows);
    for (int k = 0; k < table->n_parameters; k++) {
        PyObject *name, *keyword, *defaults;
        PyObject *row = PyTuple_GET_ITEM(rows, k);
        if (!is_row(row)
            || !PyArg_ParseTuple(row, "OOO!", &name, &keyword, &PyTuple_Type, &defaults)) {
            return -1;
        }
        if (name != Py_None && !PyUnicode_CheckExact(name)) {
            PyErr_SetString(PyExc_TypeError, "guard: a name is text");
            return -1;
        }
        if (name != Py_None) { /* None: by position only */
            Py_INCREF(name);
            PyUnicode_InternInPlace(&name);
            table->names[k] = name;
        }
        if (keyword == Py_None) {
            table->n_positional = k + 1;
        }
        table->keywords[k] = Py_NewRef(keyword);
        if (PyTuple_GET_SIZE(defaults) == 1) {
            table->defaults[k] = Py_NewRef(PyTuple_GET_ITEM(defaults, 0));
        }
    }
    return 0;
}

static int
read_variants(PyObject *rows, Table *table)
{
    Py_ssize_t n_variants = PyTuple_GET_SIZE(rows);
    table->expected = zeros(n_variants * table->n_parameters, sizeof(Expected));
    if (table->expected == NULL) {
        return -1;
    }
    table->n_variants = (int)n_variants;
    for (int k = 0; k < table->n_variants; k++) {
        PyObject *row = PyTuple_GET_ITEM(rows, k);
        if (!is_row(row)) {
            return -1;
        }
        if (PyTuple_GET_SIZE(row) != table->n_parameters) {
            PyErr_SetString(PyExc_ValueError, "guard: a variant has one row for each parameter");
            return -1;
        }
        for (int j = 0; j < table->n_parameters; j++) {
            Expected *one = &table->expected[k * table->n_parameters + j];
            if (read_expected(PyTuple_GET_ITEM(row, j), one) < 0) {
                return -1;
            }
            table->any_written |= one->written;
        }
    }
    return 0;
}

static int
read_rules(PyObject *rows, Table *table)
{
    table->rules = zeros(PyTuple_GET_SIZE(rows), sizeof(Rule));
    if (table->rules == NULL) {
        return -1;
    }
    table->n_rules = (int)PyTuple_GET_SIZE(rows);
    for (int k = 0; k < table->n_rules; k++) {
        if (read_rule(table, PyTuple_GET_ITEM(rows, k), &table->rules[k]) < 0) {
            return -1;
        }
    }
    return 0;
}

static int
read_table(PyObject *args, Table *table)
{
    int c_indices;
    PyObject *function, *parameters, *variants, *rules, *choices, *independent;
    if (!PyArg_ParseTuple(args, "OpO!O!O!O!O", &function, &c_indices, &PyTuple_Type, &parameters,
                          &PyTuple_Type, &variants, &PyTuple_Type, &rules, &PyList_Type, &choices,
                          &independent)) {
        return -1;
    }
    if (PyTuple_GET_SIZE(parameters) > MOST_PARAMETERS
        || PyTuple_GET_SIZE(variants) > MOST_VARIANTS) {
        PyErr_SetString(PyExc_ValueError, "guard: too many parameters or variants");
        return -1;
    }
    table->function = Py_NewRef(function);
    table->choices = Py_NewRef(choices);
    table->independent = Py_NewRef(independent);
    table->c_indices = (char)c_indices;
    if (read_parameters(parameters, table) < 0 || read_variants(variants, table) < 0) {
        return -1;
    }
    return read_rules(rules, table);
}

static PyObject *
guard_arm(PyObject *self, PyObject *args)
{
    if (((Guard *)self)->table != NULL) {
        PyErr_SetString(PyExc_RuntimeError, "guard: armed already"); /* a call may be using it */
        return NULL;
    }
    Table *table = zeros(1, sizeof(Table));
    if (table == NULL) {
        return NULL;
    }
    if (read_table(args, table) < 0) {
        free_table(table);
        return NULL;
    }
    ((Guard *)self)->table = table;
    Py_RETURN_NONE;
}

/* ---- the type ----------------------------------------------------------------------------- */

static int
guard_traverse(PyObject *self, visitproc visit, void *arg)
{
    const Table *table = ((Guard *)self)->table;
    Py_VISIT(Py_TYPE(self));
    if (table != NULL) {
        Py_VISIT(table->function);
        Py_VISIT(table->choices);
        Py_VISIT(table->independent);
        for (int k = 0; k < table->n_parameters; k++) {
            Py_VISIT(table->defaults[k]);
        }
    }
    return 0;
}

static int
guard_clear(PyObject *self)
{
    Table *table = ((Guard *)self)->table;
    ((Guard *)self)->table = NULL;
    free_table(table);
    return 0;
}

static void
guard_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    guard_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef guard_methods[] = {
    {"_arm", guard_arm, METH_VARARGS,
     PyDoc_STR("Take the table of kit/guard_table.py; once.")},
    {"_fast", (PyCFunction)(void (*)(void))guard_fast, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("Run the compiled function where all arguments pass, else return NotImplemented.")},
    {"_passes", (PyCFunction)(void (*)(void))guard_passes, METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("Whether all arguments pass as they are; runs nothing.")},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot guard_slots[] = {
    {Py_tp_doc, (void *)PyDoc_STR("A callable that runs what passes its table.")},
    {Py_tp_call, guard_call},
    {Py_tp_methods, guard_methods},
    {Py_tp_traverse, guard_traverse},
    {Py_tp_clear, guard_clear},
    {Py_tp_dealloc, guard_dealloc},
    {0, NULL},
};

static PyType_Spec guard_spec = {
    .name = "kit._guard.Guard",
    .basicsize = sizeof(Guard),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = guard_slots,
};

static int
set_up(PyObject *module)
{
    if (PyArray_ImportNumPyAPI() < 0) {
        return -1;
    }
    if (call_otherwise == NULL) {
        call_otherwise = PyUnicode_InternFromString("_call_otherwise");
    }
    PyObject *type = PyType_FromSpec(&guard_spec);
    if (call_otherwise == NULL || type == NULL) {
        Py_XDECREF(type);
        return -1;
    }
    int failed = PyModule_AddObjectRef(module, "Guard", type) < 0
                 || PyModule_AddStringConstant(module, "SOURCE", KIT_GUARD_SOURCE) < 0;
    Py_DECREF(type);
    return failed ? -1 : 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, set_up},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = TEXT_OF(KIT_GUARD_MODULE),
    .m_doc = PyDoc_STR("The compiled guard of kit; see kit/guard.py."),
    .m_slots = slots,
};

PyMODINIT_FUNC
INIT_OF(KIT_GUARD_MODULE)(void)
{
    return PyModuleDef_Init(&definition);
}
