// The entry points of a kernel file, for one element type at a time: the build defines FOLD, ELEMENT and ENTRY, and for
// floats ENTRY_SKIP_NAN, the same fold with NaNs ignored.
KERNEL(ENTRY, FOLD<ELEMENT, Nan::Propagate>)
#ifdef ENTRY_SKIP_NAN
KERNEL(ENTRY_SKIP_NAN, FOLD<ELEMENT, Nan::Ignore>)
#endif
