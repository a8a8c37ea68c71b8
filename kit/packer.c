/* The compiled packer: recognises the arguments of a CUDA kernel that pass as they are, and packs
 * them as the compiler lays them out.
 *
 * `Packer` gets a table made from the signature (kit/cuda/packer_table.py). `pack` then checks each
 * value against it and writes it at its parameter's place in a new `Packed`, which holds the bytes,
 * the addresses of the arguments in them, and the values. Whatever it does not recognise is
 * NotImplemented, upon which kit/cuda/arguments.py decides and explains: so this may be too narrow,
 * and must never be too wide. A property test shows that both pack the same bytes.
 *
 * Recognised are exact ndarrays and `ArrayView`s, ghosts included, CuPy's arrays where the kernel
 * runs on the device, and Python's and NumPy's own numbers; other values go to `convert`, the
 * Python twin for one value, which the table brings along.
 */

#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <Python.h>
#include <stdint.h>
#include <string.h>
#include <structmember.h>

#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>

/* One name when it is part of the package, another for each build in the store. */
#ifndef KIT_PACKER_MODULE
#define KIT_PACKER_MODULE _packer
#endif
#define NAMED(name) #name
#define TEXT_OF(name) NAMED(name)
#define JOINED(a, b) a##b
#define INIT_OF(name) JOINED(PyInit_, name)

/* Digest of this file: a library that was built from another text is not used. */
#ifndef KIT_PACKER_SOURCE
#define KIT_PACKER_SOURCE ""
#endif

#define MOST_PARAMETERS 512
#define MOST_AXES 16
/* NumPy's limit, and one axis more for the components of a vector type is below it. */
#define MOST_FOUND (MOST_AXES + 1)

/* As in kit/cuda/packer_table.py. */
typedef enum { POINTER, VIEW, CVIEW, BOOL, INT, UINT64, FLOAT32, FLOAT64, COMPLEX128, OTHER, N_KINDS } Kind;

typedef struct {
    Kind kind;
    Py_ssize_t offset, size;
    /* arrays */
    PyArray_Descr *descr; /* of the components */
    int rank;             /* -1: any, of a pointer */
    npy_intp width, element_size, alignment;
    char written, restricted;
    /* integers */
    long long low, high;
} Expected;

/* What an array says of its memory, from the start of storage. */
typedef struct {
    char *data;
    int rank;
    npy_intp shape[MOST_FOUND], strides[MOST_FOUND];
    int below[MOST_FOUND], above[MOST_FOUND]; /* ghost layers */
    char has_ghosts;
} Memory;

/* Bytes that the elements of an array may lie in. */
typedef struct {
    uintptr_t low, end;
    char restricted;
} Span;

typedef struct {
    PyObject_HEAD
    int n_parameters;
    Py_ssize_t packed_size, alignment;
    PyObject *convert;
    PyTypeObject *view_type;
    Expected *expected;
} Packer;

typedef struct {
    PyObject_VAR_HEAD
    PyObject *values;
    PyObject *streams;
    int n_parameters;
    Py_ssize_t packed_size;
    char *data;       /* in `memory` */
    void *memory[1];  /* the addresses of the arguments, then the arguments */
} Packed;

static PyTypeObject *packed_type;
static PyObject *empty_tuple;
/* interned names */
static PyObject *name_array, *name_rest, *name_ghosts, *name_dtype, *name_shape, *name_strides,
    *name_data, *name_ptr;

/* ---- where an array's elements lie -------------------------------------------------------- */

/* Whether the memory is surely still there: NumPy's own, or of an owner that cannot let go of it.
 * kit/cuda/dead_memory.py says what can happen to others. */
static int
is_alive(PyArrayObject *array, const Span *span)
{
    PyArrayObject *last = array;
    PyObject *owner = PyArray_BASE(array);
    while (owner != NULL && PyArray_Check(owner)) {
        last = (PyArrayObject *)owner;
        owner = PyArray_BASE(last);
    }
    if (owner != NULL) {
        return PyBytes_CheckExact(owner) || PyCapsule_CheckExact(owner);
    }
    if (last == array || span->low == span->end) {
        return 1;
    }
    uintptr_t start = (uintptr_t)PyArray_BYTES(last);
    return start <= span->low && span->end <= start + (uintptr_t)PyArray_NBYTES(last);
}

static int
has_elements(const Memory *memory)
{
    for (int axis = 0; axis < memory->rank; axis++) {
        if (memory->shape[axis] == 0) {
            return 0;
        }
    }
    return 1;
}

/* 0 where strides lead out of all memory, as `as_strided` can make them. */
static int
find_span(const Memory *memory, npy_intp itemsize, Span *span)
{
    npy_intp low = 0, end = itemsize;
    span->low = span->end = (uintptr_t)memory->data;
    span->restricted = 0;
    if (!has_elements(memory)) {
        return 1;
    }
    for (int axis = 0; axis < memory->rank; axis++) {
        npy_intp reach, *side = memory->strides[axis] < 0 ? &low : &end;
        if (__builtin_mul_overflow(memory->shape[axis] - 1, memory->strides[axis], &reach)
            || __builtin_add_overflow(*side, reach, side)) {
            return 0;
        }
    }
    span->low += (uintptr_t)low;
    span->end += (uintptr_t)end;
    return 1;
}

static int
find_host_array(const Expected *expected, PyObject *value, Memory *memory)
{
    if (!PyArray_CheckExact(value)) {
        return 0;
    }
    PyArrayObject *array = (PyArrayObject *)value;
    if (PyArray_DESCR(array) != expected->descr || PyArray_NDIM(array) > MOST_FOUND
        || (expected->written && !PyArray_ISWRITEABLE(array))) {
        return 0;
    }
    memory->data = PyArray_BYTES(array);
    memory->rank = PyArray_NDIM(array);
    for (int axis = 0; axis < memory->rank; axis++) {
        memory->shape[axis] = PyArray_DIM(array, axis);
        memory->strides[axis] = PyArray_STRIDE(array, axis);
    }
    Span span;
    return find_span(memory, PyArray_ITEMSIZE(array), &span) && is_alive(array, &span);
}

/* The layers that an ArrayView keeps beside its array: None, or (below, above) for each axis. */
static int
read_ghosts(PyObject *ghosts, Memory *memory)
{
    if (ghosts == Py_None) {
        return 1;
    }
    if (!PyTuple_CheckExact(ghosts) || PyTuple_GET_SIZE(ghosts) != memory->rank) {
        return 0;
    }
    for (int axis = 0; axis < memory->rank; axis++) {
        long layers[2];
        PyObject *pair = PyTuple_GET_ITEM(ghosts, axis);
        if (!PyTuple_CheckExact(pair) || PyTuple_GET_SIZE(pair) != 2) {
            return 0;
        }
        for (int side = 0; side < 2; side++) {
            layers[side] = PyLong_AsLong(PyTuple_GET_ITEM(pair, side));
            if (layers[side] < 0 || layers[side] > INT32_MAX) {
                PyErr_Clear();
                return 0;
            }
        }
        if (layers[0] + layers[1] > memory->shape[axis]) {
            return 0;
        }
        memory->below[axis] = (int)layers[0];
        memory->above[axis] = (int)layers[1];
    }
    memory->has_ghosts = 1;
    return 1;
}

static int
find_view(const Expected *expected, PyObject *value, Memory *memory)
{
    int found = 0;
    PyObject *array = PyObject_GetAttr(value, name_array);
    PyObject *rest = array == NULL ? NULL : PyObject_GetAttr(value, name_rest);
    if (rest != NULL && find_host_array(expected, array, memory)) {
        found = 1;
        if (rest != Py_None) {
            PyObject *ghosts = PyObject_GetAttr(rest, name_ghosts);
            found = ghosts != NULL && read_ghosts(ghosts, memory);
            Py_XDECREF(ghosts);
        }
    }
    Py_XDECREF(array); /* the view holds it */
    Py_XDECREF(rest);
    PyErr_Clear();
    return found;
}

static int
read_integers(PyObject *tuple, npy_intp *numbers, int *count)
{
    if (tuple == NULL || !PyTuple_CheckExact(tuple) || PyTuple_GET_SIZE(tuple) > MOST_FOUND) {
        return 0;
    }
    *count = (int)PyTuple_GET_SIZE(tuple);
    for (int k = 0; k < *count; k++) {
        numbers[k] = PyLong_AsSsize_t(PyTuple_GET_ITEM(tuple, k));
    }
    return !PyErr_Occurred();
}

/* An array of CuPy, by its attributes: all are writeable, and aligned as they were allocated. */
static int
find_device_array(const Expected *expected, PyObject *value, Memory *memory)
{
    int n_strides = 0, found = 0;
    PyObject *dtype = PyObject_GetAttr(value, name_dtype);
    PyObject *shape = dtype == NULL ? NULL : PyObject_GetAttr(value, name_shape);
    PyObject *strides = shape == NULL ? NULL : PyObject_GetAttr(value, name_strides);
    PyObject *data = strides == NULL ? NULL : PyObject_GetAttr(value, name_data);
    PyObject *pointer = data == NULL ? NULL : PyObject_GetAttr(data, name_ptr);
    if (pointer != NULL && dtype == (PyObject *)expected->descr
        && read_integers(shape, memory->shape, &memory->rank)
        && read_integers(strides, memory->strides, &n_strides) && n_strides == memory->rank) {
        memory->data = PyLong_AsVoidPtr(pointer);
        found = !PyErr_Occurred();
        for (int axis = 0; axis < memory->rank; axis++) {
            found = found && memory->shape[axis] >= 0;
        }
    }
    Py_XDECREF(dtype);
    Py_XDECREF(shape);
    Py_XDECREF(strides);
    Py_XDECREF(data);
    Py_XDECREF(pointer);
    PyErr_Clear();
    return found;
}

/* ---- arrays ------------------------------------------------------------------------------- */

/* Leaves the components of a vector type away, which have to be the last axis, side by side. */
static int
drop_components(const Expected *expected, Memory *memory)
{
    if (expected->width == 1) {
        return 1;
    }
    int last = memory->rank - 1;
    if (last < 0 || memory->has_ghosts || memory->shape[last] != expected->width
        || (has_elements(memory)
            && memory->strides[last] != expected->element_size / expected->width)) {
        return 0;
    }
    memory->rank = last;
    return 1;
}

static int
is_contiguous(const Expected *expected, const Memory *memory)
{
    npy_intp step = expected->element_size;
    for (int axis = memory->rank - 1; axis >= 0; axis--) {
        if (memory->shape[axis] > 1 && memory->strides[axis] != step) {
            return 0;
        }
        step *= memory->shape[axis];
    }
    return 1;
}

static int
has_whole_steps(const Expected *expected, const Memory *memory)
{
    for (int axis = 0; axis < memory->rank; axis++) {
        if (memory->strides[axis] % expected->element_size) {
            return 0;
        }
    }
    return 1;
}

/* Whether each index surely has bytes of its own: every axis steps over all that the faster axes
 * span. What this does not see, Python looks at more closely. */
static int
is_nested(const Expected *expected, const Memory *memory)
{
    npy_intp last[MOST_FOUND], steps[MOST_FOUND], reach = expected->element_size;
    int count = 0;
    for (int axis = 0; axis < memory->rank; axis++) {
        if (memory->shape[axis] < 2) {
            continue;
        }
        npy_intp step = memory->strides[axis] < 0 ? -memory->strides[axis] : memory->strides[axis];
        int at = count++;
        for (; at > 0 && steps[at - 1] > step; at--) {
            steps[at] = steps[at - 1];
            last[at] = last[at - 1];
        }
        steps[at] = step;
        last[at] = memory->shape[axis] - 1;
    }
    for (int k = 0; k < count; k++) {
        if (steps[k] < reach) {
            return 0;
        }
        reach += last[k] * steps[k];
    }
    return 1;
}

static int
passes_layout(const Expected *expected, const Memory *memory)
{
    if (expected->kind != POINTER && memory->rank != expected->rank) {
        return 0;
    }
    const int is_empty = !has_elements(memory);
    if (!is_empty && (uintptr_t)memory->data % (uintptr_t)expected->alignment) {
        return 0;
    }
    if (expected->kind != VIEW) {
        return !memory->has_ghosts && (is_empty || is_contiguous(expected, memory));
    }
    return is_empty
           || (has_whole_steps(expected, memory)
               && (!expected->written || is_nested(expected, memory)));
}

/* ArrayND<T> of kit/array_view.cuh: data, shape, strides, ghost_low, ghost_high. */
static void
write_array(const Expected *expected, const Memory *memory, char *place)
{
    const int rank = memory->rank;
    const int is_empty = !has_elements(memory);
    char *data = memory->data;
    int64_t *extents = (int64_t *)(place + sizeof(char *));
    for (int axis = 0; axis < rank; axis++) {
        npy_intp stride = is_empty ? 0 : memory->strides[axis];
        data += memory->below[axis] * stride;
        if (expected->kind != POINTER) {
            extents[axis] = memory->shape[axis] - memory->below[axis] - memory->above[axis];
        }
        if (expected->kind == VIEW) {
            int32_t *layers = (int32_t *)(extents + 2 * rank);
            extents[rank + axis] = stride / expected->element_size;
            layers[axis] = memory->below[axis];
            layers[rank + axis] = memory->above[axis];
        }
    }
    memcpy(place, &data, sizeof(data));
}

static int
pack_array(const Packer *self, const Expected *expected, PyObject *value, PyObject *device_type,
           char *place, Span *span)
{
    Memory memory;
    memory.has_ghosts = 0;
    memset(memory.below, 0, sizeof(memory.below));
    memset(memory.above, 0, sizeof(memory.above));
    int found;
    if (device_type != Py_None) {
        found = (PyObject *)Py_TYPE(value) == device_type
                && find_device_array(expected, value, &memory);
    }
    else if (PyObject_TypeCheck(value, self->view_type)) {
        found = find_view(expected, value, &memory);
    }
    else {
        found = find_host_array(expected, value, &memory);
    }
    if (!found || !drop_components(expected, &memory)
        || !find_span(&memory, expected->element_size, span)
        || !passes_layout(expected, &memory)) {
        return 0;
    }
    write_array(expected, &memory, place);
    span->restricted = expected->restricted && expected->written;
    return 1;
}

/* ---- values ------------------------------------------------------------------------------- */

static int
integer_value(PyObject *value, long long *number)
{
    if (PyLong_CheckExact(value) || PyBool_Check(value)) {
        int overflow = 0;
        *number = PyLong_AsLongLongAndOverflow(value, &overflow);
        return !overflow;
    }
    if (PyArray_IsScalar(value, Int64)) {
        *number = PyArrayScalar_VAL(value, Int64);
        return 1;
    }
    if (PyArray_IsScalar(value, Int32)) {
        *number = PyArrayScalar_VAL(value, Int32);
        return 1;
    }
    return 0;
}

static int
pack_integer(const Expected *expected, PyObject *value, char *place)
{
    long long number;
    if (!integer_value(value, &number) || number < expected->low || number > expected->high) {
        return 0;
    }
    /* Little endian: the low bytes come first, of signed and of unsigned integers alike. */
    memcpy(place, &number, expected->size);
    return 1;
}

static int
pack_real(const Expected *expected, PyObject *value, char *place)
{
    if (expected->kind == FLOAT32 && PyArray_IsScalar(value, Float32)) {
        memcpy(place, &PyArrayScalar_VAL(value, Float32), 4);
        return 1;
    }
    double number;
    if (PyFloat_CheckExact(value)) {
        number = PyFloat_AS_DOUBLE(value);
    }
    else if (Py_IS_TYPE(value, &PyDoubleArrType_Type)) {
        number = PyArrayScalar_VAL(value, Float64);
    }
    else {
        return 0;
    }
    if (expected->kind == FLOAT64) {
        memcpy(place, &number, 8);
        return 1;
    }
    float rounded = (float)number;
    if ((double)rounded != number) { /* NaN, too: the twin knows which one */
        return 0;
    }
    memcpy(place, &rounded, 4);
    return 1;
}

static int
pack_complex(PyObject *value, char *place)
{
    if (!PyComplex_CheckExact(value)) {
        return 0;
    }
    Py_complex number = PyComplex_AsCComplex(value);
    memcpy(place, &number, 16);
    return 1;
}

static int
pack_number(const Expected *expected, PyObject *value, char *place)
{
    switch (expected->kind) {
    case BOOL:
        *place = value == Py_True || value == PyArrayScalar_True;
        return *place || value == Py_False || value == PyArrayScalar_False;
    case INT:
        return pack_integer(expected, value, place);
    case UINT64: {
        long long number;
        if (!integer_value(value, &number) || number < 0) {
            return 0;
        }
        memcpy(place, &number, 8);
        return 1;
    }
    case FLOAT32:
    case FLOAT64:
        return pack_real(expected, value, place);
    case COMPLEX128:
        return pack_complex(value, place);
    default:
        return 0;
    }
}

/* 1 where the twin has packed it, 0 where it refuses, -1 where an exception was raised. */
static int
pack_converted(const Packer *self, int index, PyObject *value, char *place)
{
    const Expected *expected = &self->expected[index];
    PyObject *bytes = PyObject_CallFunction(self->convert, "iO", index, value);
    if (bytes == NULL) {
        return -1;
    }
    int packed = PyBytes_CheckExact(bytes) && PyBytes_GET_SIZE(bytes) == expected->size;
    if (packed) {
        memcpy(place, PyBytes_AS_STRING(bytes), expected->size);
    }
    Py_DECREF(bytes);
    return packed;
}

/* ---- a call ------------------------------------------------------------------------------- */

static int
is_array(const Expected *expected)
{
    return expected->kind == POINTER || expected->kind == VIEW || expected->kind == CVIEW;
}

/* A promise of __restrict__ holds where no other array has bytes in the same range; what lies
 * interleaved, Python looks at more closely. */
static int
keep_promises(const Span *spans, int count)
{
    for (int one = 0; one < count; one++) {
        for (int other = 0; spans[one].restricted && other < count; other++) {
            if (other != one && spans[one].low < spans[other].end
                && spans[other].low < spans[one].end) {
                return 0;
            }
        }
    }
    return 1;
}

/* 1 where all is packed, 0 where not, -1 where an exception was raised. Numbers come first, because
 * converting them may run Python, during which an array's memory could move. */
static int
pack_all(const Packer *self, PyObject *values, PyObject *device_type, char *data)
{
    for (int k = 0; k < self->n_parameters; k++) {
        const Expected *expected = &self->expected[k];
        PyObject *value = PyTuple_GET_ITEM(values, k);
        if (!is_array(expected) && !pack_number(expected, value, data + expected->offset)) {
            int answer = pack_converted(self, k, value, data + expected->offset);
            if (answer != 1) {
                return answer;
            }
        }
    }
    Span spans[MOST_PARAMETERS];
    int count = 0;
    for (int k = 0; k < self->n_parameters; k++) {
        const Expected *expected = &self->expected[k];
        PyObject *value = PyTuple_GET_ITEM(values, k);
        if (is_array(expected)
            && !pack_array(self, expected, value, device_type, data + expected->offset,
                           &spans[count++])) {
            return 0;
        }
    }
    return keep_promises(spans, count);
}

static Packed *
new_packed(const Packer *self, PyObject *values)
{
    Py_ssize_t table = self->n_parameters * (Py_ssize_t)sizeof(void *);
    Packed *packed = PyObject_NewVar(Packed, packed_type,
                                     table + self->packed_size + self->alignment);
    if (packed == NULL) {
        return NULL;
    }
    uintptr_t start = (uintptr_t)packed->memory + (uintptr_t)table;
    start += (uintptr_t)self->alignment - 1;
    packed->data = (char *)(start - start % (uintptr_t)self->alignment);
    memset(packed->data, 0, self->packed_size); /* what lies between arguments, too */
    packed->values = Py_NewRef(values);
    packed->streams = Py_NewRef(empty_tuple);
    packed->n_parameters = self->n_parameters;
    packed->packed_size = self->packed_size;
    for (int k = 0; k < self->n_parameters; k++) {
        packed->memory[k] = packed->data + self->expected[k].offset;
    }
    return packed;
}

static PyObject *
packer_pack(PyObject *object, PyObject *const *args, Py_ssize_t n_args)
{
    const Packer *self = (Packer *)object;
    if (n_args != 2 || !PyTuple_CheckExact(args[0])
        || PyTuple_GET_SIZE(args[0]) != self->n_parameters) {
        PyErr_SetString(PyExc_TypeError, "pack takes a tuple of values and a type of arrays");
        return NULL;
    }
    Packed *packed = new_packed(self, args[0]);
    if (packed == NULL) {
        return NULL;
    }
    int answer = pack_all(self, args[0], args[1], packed->data);
    if (answer != 1) {
        Py_DECREF(packed);
        return answer < 0 ? NULL : Py_NewRef(Py_NotImplemented);
    }
    return (PyObject *)packed;
}

/* ---- the packed arguments ----------------------------------------------------------------- */

static void
packed_dealloc(PyObject *object)
{
    Packed *self = (Packed *)object;
    PyTypeObject *type = Py_TYPE(object);
    Py_XDECREF(self->values);
    Py_XDECREF(self->streams);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyObject *
packed_addresses(PyObject *self, void *Py_UNUSED(closure))
{
    return PyLong_FromVoidPtr(((Packed *)self)->memory);
}

static PyObject *
packed_data(PyObject *object, void *Py_UNUSED(closure))
{
    const Packed *self = (Packed *)object;
    return PyBytes_FromStringAndSize(self->data, self->packed_size);
}

static PyGetSetDef packed_getset[] = {
    {"addresses", packed_addresses, NULL,
     PyDoc_STR("Address of one void* for each parameter."), NULL},
    {"data", packed_data, NULL, PyDoc_STR("A copy of the packed bytes."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef packed_members[] = {
    {"values", T_OBJECT, offsetof(Packed, values), READONLY, NULL},
    {"streams", T_OBJECT, offsetof(Packed, streams), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot packed_slots[] = {
    {Py_tp_doc, (void *)PyDoc_STR("The packed arguments of one call.")},
    {Py_tp_dealloc, packed_dealloc},
    {Py_tp_getset, packed_getset},
    {Py_tp_members, packed_members},
    {0, NULL},
};

static PyType_Spec packed_spec = {
    .name = "kit._packer.Packed",
    .basicsize = offsetof(Packed, memory),
    .itemsize = 1,
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = packed_slots,
};

/* ---- the table ---------------------------------------------------------------------------- */

/* Whether a row describes what write_array and pack_number write. */
static int
check_sizes(const Expected *expected, Py_ssize_t packed_size)
{
    static const Py_ssize_t sizes[N_KINDS] = {
        [POINTER] = 8, [BOOL] = 1, [UINT64] = 8, [FLOAT32] = 4, [FLOAT64] = 8, [COMPLEX128] = 16};
    Py_ssize_t size = sizes[expected->kind];
    if (expected->kind == VIEW || expected->kind == CVIEW) {
        size = 8 + (expected->kind == VIEW ? 24 : 8) * (Py_ssize_t)expected->rank;
    }
    if (expected->kind == INT) {
        size = expected->size <= 8 ? expected->size : 0;
    }
    if (expected->kind == OTHER) {
        size = expected->size;
    }
    return expected->size == size && size > 0 && expected->offset >= 0
           && expected->offset <= packed_size - size
           && (!is_array(expected) || expected->offset % 8 == 0);
}

/* (kind, offset, size, what the kind needs), as packer_table.py writes it */
static int
read_expected(PyObject *row, Expected *expected, Py_ssize_t packed_size)
{
    int kind;
    PyObject *rest;
    if (!PyTuple_Check(row)
        || !PyArg_ParseTuple(row, "innO!", &kind, &expected->offset, &expected->size,
                             &PyTuple_Type, &rest)) {
        return -1;
    }
    if (kind < 0 || kind >= N_KINDS) {
        PyErr_Format(PyExc_ValueError, "packer: no kind %d", kind);
        return -1;
    }
    expected->kind = (Kind)kind;
    if (is_array(expected)) {
        PyObject *descr;
        int written, restricted;
        if (!PyArg_ParseTuple(rest, "O!innnpp", &PyArrayDescr_Type, &descr, &expected->rank,
                              &expected->width, &expected->element_size, &expected->alignment,
                              &written, &restricted)) {
            return -1;
        }
        expected->descr = (PyArray_Descr *)Py_NewRef(descr);
        expected->written = (char)written;
        expected->restricted = (char)restricted;
        if (expected->width < 1 || expected->element_size < 1 || expected->alignment < 1
            || expected->element_size != expected->width * PyDataType_ELSIZE(expected->descr)
            || expected->rank > MOST_AXES || (kind != POINTER && expected->rank < 1)) {
            PyErr_SetString(PyExc_ValueError, "packer: an array's elements or axes");
            return -1;
        }
    }
    if (kind == INT && !PyArg_ParseTuple(rest, "LL", &expected->low, &expected->high)) {
        return -1;
    }
    if (!check_sizes(expected, packed_size)) {
        PyErr_SetString(PyExc_ValueError, "packer: a parameter's place or size");
        return -1;
    }
    return 0;
}

static int
read_table(PyObject *args, Packer *self)
{
    PyObject *rows, *convert, *view_type;
    if (!PyArg_ParseTuple(args, "O!nnOO!", &PyTuple_Type, &rows, &self->packed_size,
                          &self->alignment, &convert, &PyType_Type, &view_type)) {
        return -1;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(rows);
    if (count > MOST_PARAMETERS || self->packed_size < 0 || self->packed_size > (1 << 20)
        || self->alignment < 16 || self->alignment > 4096) {
        PyErr_SetString(PyExc_ValueError, "packer: too many parameters, or too large ones");
        return -1;
    }
    self->convert = Py_NewRef(convert);
    self->view_type = (PyTypeObject *)Py_NewRef(view_type);
    self->expected = PyMem_Calloc(count > 0 ? count : 1, sizeof(Expected));
    if (self->expected == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    self->n_parameters = (int)count;
    for (int k = 0; k < self->n_parameters; k++) {
        if (read_expected(PyTuple_GET_ITEM(rows, k), &self->expected[k], self->packed_size) < 0) {
            return -1;
        }
    }
    return 0;
}

static PyObject *
packer_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    if (kwargs != NULL && PyDict_GET_SIZE(kwargs) != 0) {
        PyErr_SetString(PyExc_TypeError, "Packer takes no keywords");
        return NULL;
    }
    Packer *self = (Packer *)type->tp_alloc(type, 0);
    if (self != NULL && read_table(args, self) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static int
packer_traverse(PyObject *object, visitproc visit, void *arg)
{
    const Packer *self = (Packer *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->convert);
    Py_VISIT(self->view_type);
    return 0;
}

static int
packer_clear(PyObject *object)
{
    Py_CLEAR(((Packer *)object)->convert);
    return 0;
}

static void
packer_dealloc(PyObject *object)
{
    Packer *self = (Packer *)object;
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    for (int k = 0; k < self->n_parameters; k++) {
        Py_XDECREF(self->expected[k].descr);
    }
    PyMem_Free(self->expected);
    Py_XDECREF(self->convert);
    Py_XDECREF(self->view_type);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyMethodDef packer_methods[] = {
    {"pack", (PyCFunction)(void (*)(void))packer_pack, METH_FASTCALL,
     PyDoc_STR("The packed arguments, or NotImplemented; arrays of the given type, None: NumPy's.")},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot packer_slots[] = {
    {Py_tp_doc, (void *)PyDoc_STR("Packs the arguments that pass its table.")},
    {Py_tp_new, packer_new},
    {Py_tp_methods, packer_methods},
    {Py_tp_traverse, packer_traverse},
    {Py_tp_clear, packer_clear},
    {Py_tp_dealloc, packer_dealloc},
    {0, NULL},
};

static PyType_Spec packer_spec = {
    .name = "kit._packer.Packer",
    .basicsize = sizeof(Packer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .slots = packer_slots,
};

/* ---- the module --------------------------------------------------------------------------- */

static int
intern_names(void)
{
    struct {
        PyObject **name;
        const char *text;
    } names[] = {{&name_array, "_array"}, {&name_rest, "_rest"},       {&name_ghosts, "ghosts"},
                 {&name_dtype, "dtype"},  {&name_shape, "shape"},      {&name_strides, "strides"},
                 {&name_data, "data"},    {&name_ptr, "ptr"}};
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
        *names[k].name = PyUnicode_InternFromString(names[k].text);
        if (*names[k].name == NULL) {
            return -1;
        }
    }
    return 0;
}

static int
set_up(PyObject *module)
{
    if (PyArray_ImportNumPyAPI() < 0 || intern_names() < 0) {
        return -1;
    }
    empty_tuple = PyTuple_New(0);
    packed_type = (PyTypeObject *)PyType_FromSpec(&packed_spec);
    PyObject *type = PyType_FromSpec(&packer_spec);
    if (empty_tuple == NULL || packed_type == NULL || type == NULL) {
        Py_XDECREF(type);
        return -1;
    }
    int failed = PyModule_AddObjectRef(module, "Packer", type) < 0
                 || PyModule_AddObjectRef(module, "Packed", (PyObject *)packed_type) < 0
                 || PyModule_AddStringConstant(module, "SOURCE", KIT_PACKER_SOURCE) < 0;
    Py_DECREF(type);
    return failed ? -1 : 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, set_up},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = TEXT_OF(KIT_PACKER_MODULE),
    .m_doc = PyDoc_STR("The compiled packer of kit; see kit/cuda/packing.py."),
    .m_slots = slots,
};

PyMODINIT_FUNC
INIT_OF(KIT_PACKER_MODULE)(void)
{
    return PyModuleDef_Init(&definition);
}
