# How CMake files are formatted (`make format`).
with section("parse"):  # noqa: F821
    additional_commands = {
        "nanobind_add_module": {
            "pargs": {
                "nargs": "+",
                "flags": [
                    "STABLE_ABI",
                    "NB_STATIC",
                    "NB_SUPPRESS_WARNINGS",
                    "NOSTRIP",
                    "NOMINSIZE",
                ],
            },
            "kwargs": {"NB_DOMAIN": 1},
        },
        "nanobind_add_stub": {
            "pargs": 1,
            "flags": ["RECURSIVE", "VERBOSE"],
            "kwargs": {
                "MODULE": 1,
                "PYTHON_PATH": 1,
                "PATTERN_FILE": 1,
                "OUTPUT_PATH": 1,
                "OUTPUT": "+",
                "DEPENDS": "+",
            },
        },
    }

with section("format"):  # noqa: F821
    line_width = 100
    tab_size = 2
    max_subgroups_hwrap = 4
    max_pargs_hwrap = 5
    max_prefix_chars = 5  # lists stand below their keyword

with section("markup"):  # noqa: F821
    enable_markup = False  # comments stay as they are
