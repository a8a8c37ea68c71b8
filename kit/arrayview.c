/* The base type of kit.ArrayView: holds an ndarray of its own and exports its buffer.
 *
 * `View.__new__` recognises the usual wrap, an exact ndarray whose elements need no thought, and
 * makes the view without a line of Python. Whatever it does not recognise goes to the class's
 * `_make`, which accepts or refuses it with the reason: so the fast way may be too narrow, and must
 * never be too wide. kit/views/base.py is the twin in Python, which asks `_make` always; a test
 * shows that both make the same.
 */

#define PY_SSIZE_T_CLEAN
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <Python.h>
#include <structmember.h>

#include <numpy/arrayobject.h>

/* One name when it is part of the package, another for each build in the store. */
#ifndef KIT_ARRAYVIEW_MODULE
#define KIT_ARRAYVIEW_MODULE _arrayview
#endif
#define NAMED(name) #name
#define TEXT_OF(name) NAMED(name)
#define JOINED(a, b) a##b
#define INIT_OF(name) JOINED(PyInit_, name)

/* Digest of this file: a library that was built from another text is not used. */
#ifndef KIT_ARRAYVIEW_SOURCE
#define KIT_ARRAYVIEW_SOURCE ""
#endif

typedef struct {
    PyObject_HEAD
    PyObject *array; /* an exact ndarray that nobody else is given; None where there is no host memory */
    PyObject *rest;  /* what kit/views/rest.py keeps beside it, or None */
    PyObject *weakrefs;
} View;

/* The element types of kit/views/elements.py, native, by their one name. */
typedef struct {
    int number;
    const char *name;
    PyArray_Descr *descr;
} Element;

static Element elements[] = {
    {NPY_FLOAT64, "float64", NULL},       {NPY_FLOAT32, "float32", NULL},
    {NPY_INT64, "int64", NULL},           {NPY_INT32, "int32", NULL},
    {NPY_INT16, "int16", NULL},           {NPY_INT8, "int8", NULL},
    {NPY_UINT64, "uint64", NULL},         {NPY_UINT32, "uint32", NULL},
    {NPY_UINT16, "uint16", NULL},         {NPY_UINT8, "uint8", NULL},
    {NPY_COMPLEX128, "complex128", NULL}, {NPY_COMPLEX64, "complex64", NULL},
    {NPY_BOOL, "bool", NULL},
};
#define N_ELEMENTS ((int)(sizeof(elements) / sizeof(elements[0])))

static PyObject *make, *array_keyword, *dtype_keyword; /* interned names */

/* ---- wrapping ----------------------------------------------------------------------------- */

static const Element *
element_of(PyArrayObject *array)
{
    for (int k = 0; k < N_ELEMENTS; k++) {
        /* The one description of a native type; others, if equal, go the slow way. */
        if (PyArray_DESCR(array) == elements[k].descr) {
            return &elements[k];
        }
    }
    return NULL;
}

static int
is_asked_for(const Element *element, PyObject *dtype)
{
    if (dtype == NULL || dtype == Py_None || dtype == (PyObject *)element->descr
        || dtype == (PyObject *)element->descr->typeobj) {
        return 1;
    }
    return PyUnicode_CheckExact(dtype)
           && PyUnicode_CompareWithASCIIString(dtype, element->name) == 0;
}

/* Whether an element lies at each index as compiled code counts, in steps of whole elements. */
static int
is_regular(PyArrayObject *array, const Element *element)
{
    if (PyArray_SIZE(array) == 0) {
        return 1;
    }
    const npy_intp itemsize = PyArray_ITEMSIZE(array), *strides = PyArray_STRIDES(array);
    for (int axis = 0; axis < PyArray_NDIM(array); axis++) {
        if (strides[axis] % itemsize) {
            return 0;
        }
    }
    return (npy_uintp)PyArray_DATA(array) % (npy_uintp)PyDataType_ALIGNMENT(element->descr) == 0;
}

/* A new view of the same elements, which holds the outermost ndarray of the base chain. */
static PyObject *
share(PyArrayObject *array)
{
    PyObject *owner = (PyObject *)array;
    PyObject *base = PyArray_BASE(array);
    while (base != NULL && PyArray_Check(base)) {
        owner = base;
        base = PyArray_BASE((PyArrayObject *)base);
    }
    PyArray_Descr *descr = PyArray_DESCR(array);
    Py_INCREF(descr);
    PyObject *made = PyArray_NewFromDescr(
        &PyArray_Type, descr, PyArray_NDIM(array), PyArray_DIMS(array), PyArray_STRIDES(array),
        PyArray_DATA(array), PyArray_FLAGS(array) & NPY_ARRAY_WRITEABLE, NULL);
    if (made == NULL) {
        return NULL;
    }
    Py_INCREF(owner);
    if (PyArray_SetBaseObject((PyArrayObject *)made, owner) < 0) {
        Py_DECREF(made);
        return NULL;
    }
    return made;
}

/* ArrayView(array=a) or ArrayView(array=a, dtype=d): a new array that shares memory with `a`, or
 * NULL, without an exception where this needs more thought. */
static PyObject *
wrap(PyObject *args, PyObject *kwargs)
{
    if (PyTuple_GET_SIZE(args) != 0 || kwargs == NULL) {
        return NULL;
    }
    PyObject *name, *value, *array = NULL, *dtype = NULL;
    Py_ssize_t position = 0;
    while (PyDict_Next(kwargs, &position, &name, &value)) {
        /* Names written in a call are interned; others go the slow way. */
        if (name == array_keyword) {
            array = value;
        }
        else if (name == dtype_keyword) {
            dtype = value;
        }
        else {
            return NULL;
        }
    }
    if (array == NULL || !PyArray_CheckExact(array)) {
        return NULL;
    }
    PyArrayObject *source = (PyArrayObject *)array;
    const Element *element = element_of(source);
    if (element == NULL || !is_asked_for(element, dtype) || !PyArray_ISWRITEABLE(source)
        || !is_regular(source, element)) {
        return NULL;
    }
    return share(source);
}

/* ---- the type ----------------------------------------------------------------------------- */

/* Takes over both references. */
static PyObject *
new_view(PyTypeObject *type, PyObject *array, PyObject *rest)
{
    View *self = (View *)type->tp_alloc(type, 0);
    if (self == NULL) {
        Py_DECREF(array);
        Py_DECREF(rest);
        return NULL;
    }
    self->array = array;
    self->rest = rest;
    return (PyObject *)self;
}

static PyObject *
view_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *array = wrap(args, kwargs);
    if (array != NULL) {
        return new_view(type, array, Py_NewRef(Py_None));
    }
    if (PyErr_Occurred()) {
        return NULL;
    }
    PyObject *method = PyObject_GetAttr((PyObject *)type, make);
    if (method == NULL) {
        return NULL;
    }
    PyObject *pair = PyObject_Call(method, args, kwargs);
    Py_DECREF(method);
    if (pair == NULL) {
        return NULL;
    }
    PyObject *rest;
    PyObject *self = NULL;
    if (!PyTuple_Check(pair)) {
        PyErr_SetString(PyExc_TypeError, "_make returns an array and what goes with it");
    }
    else if (PyArg_ParseTuple(pair, "OO", &array, &rest)) {
        self = new_view(type, Py_NewRef(array), Py_NewRef(rest));
    }
    Py_DECREF(pair);
    return self;
}

static PyObject *
view_of(PyObject *type, PyObject *args)
{
    PyObject *array, *rest;
    if (!PyArg_ParseTuple(args, "OO", &array, &rest)) {
        return NULL;
    }
    return new_view((PyTypeObject *)type, Py_NewRef(array), Py_NewRef(rest));
}

static PyObject *
view_share(PyObject *Py_UNUSED(module), PyObject *array)
{
    if (!PyArray_Check(array)) {
        PyErr_SetString(PyExc_TypeError, "share takes an ndarray");
        return NULL;
    }
    return share((PyArrayObject *)array);
}

/* The ndarray does it, and is what the buffer then holds. */
static int
view_getbuffer(PyObject *self, Py_buffer *buffer, int flags)
{
    PyObject *array = ((View *)self)->array;
    if (array == NULL || !PyArray_CheckExact(array)) {
        buffer->obj = NULL;
        PyErr_SetString(PyExc_BufferError, "the elements lie on a device, which has no buffer");
        return -1;
    }
    return PyObject_GetBuffer(array, buffer, flags);
}

static int
view_traverse(PyObject *self, visitproc visit, void *arg)
{
    const View *view = (const View *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(view->rest);
    Py_VISIT(view->array);
    /* Arrays tell the collector nothing about their base (NumPy 2.4). The view's array is its own,
     * so that where nobody else has it yet, its reference to the base is the view's, too; and so
     * on along the chain, with the array between it and a buffer. */
    PyObject *array = view->array;
    while (array != NULL && PyArray_CheckExact(array) && Py_REFCNT(array) == 1) {
        array = PyArray_BASE((PyArrayObject *)array);
        Py_VISIT(array);
    }
    return 0;
}

static int
view_clear(PyObject *self)
{
    Py_CLEAR(((View *)self)->array);
    Py_CLEAR(((View *)self)->rest);
    return 0;
}

static void
view_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (((View *)self)->weakrefs != NULL) {
        PyObject_ClearWeakRefs(self);
    }
    view_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef view_methods[] = {
    {"_of", view_of, METH_VARARGS | METH_CLASS,
     PyDoc_STR("A view of an array that is its own, with what goes with it.")},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef view_members[] = {
    {"_array", T_OBJECT, offsetof(View, array), READONLY, NULL},
    {"_rest", T_OBJECT, offsetof(View, rest), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(View, weakrefs), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot view_slots[] = {
    {Py_tp_doc, (void *)PyDoc_STR("An array of its own, and its buffer.")},
    {Py_tp_new, view_new},
    {Py_tp_methods, view_methods},
    {Py_tp_members, view_members},
    {Py_bf_getbuffer, view_getbuffer},
    {Py_tp_traverse, view_traverse},
    {Py_tp_clear, view_clear},
    {Py_tp_dealloc, view_dealloc},
    {0, NULL},
};

static PyType_Spec view_spec = {
    .name = "kit._arrayview.View",
    .basicsize = sizeof(View),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = view_slots,
};

static int
set_up(PyObject *module)
{
    if (PyArray_ImportNumPyAPI() < 0) {
        return -1;
    }
    for (int k = 0; k < N_ELEMENTS; k++) {
        if (elements[k].descr == NULL) {
            elements[k].descr = PyArray_DescrFromType(elements[k].number);
        }
        if (elements[k].descr == NULL) {
            return -1;
        }
    }
    make = PyUnicode_InternFromString("_make");
    array_keyword = PyUnicode_InternFromString("array");
    dtype_keyword = PyUnicode_InternFromString("dtype");
    PyObject *type = PyType_FromSpec(&view_spec);
    if (make == NULL || array_keyword == NULL || dtype_keyword == NULL || type == NULL) {
        Py_XDECREF(type);
        return -1;
    }
    int failed = PyModule_AddObjectRef(module, "View", type) < 0
                 || PyModule_AddStringConstant(module, "SOURCE", KIT_ARRAYVIEW_SOURCE) < 0;
    Py_DECREF(type);
    return failed ? -1 : 0;
}

static PyMethodDef functions[] = {
    {"share", view_share, METH_O,
     PyDoc_STR("A new view of an array's elements that holds the outermost array of its bases.")},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, set_up},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = TEXT_OF(KIT_ARRAYVIEW_MODULE),
    .m_doc = PyDoc_STR("The base type of kit.ArrayView; see kit/views/base.py."),
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC
INIT_OF(KIT_ARRAYVIEW_MODULE)(void)
{
    return PyModuleDef_Init(&definition);
}
