//! A SIMT machine that executes PTX on any computer.
