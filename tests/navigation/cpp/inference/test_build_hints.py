"""What build files say plainly: standards, macros and folders, without running anything."""

from __future__ import annotations

from pathlib import Path

from codenib.navigation.cpp.inference.build_hints import BuildHints, read_hints


def test_the_newest_standard_of_a_file_counts_for_its_language() -> None:
    text = (
        "set(CMAKE_CXX_STANDARD 11)\ntarget_compile_features(x PUBLIC cxx_std_17)\nset(CMAKE_C_STANDARD 99)"
    )
    hints = read_hints("CMakeLists.txt", text)
    assert (hints.c, hints.cpp) == ("gnu99", "gnu++17")
    assert read_hints("Makefile", "CFLAGS=-std=c11 -std=gnu99").c == "c11"
    assert read_hints("meson.build", "default_options: ['cpp_std=c++2a']").cpp == "c++2a"


def test_macros_under_another_platforms_condition_are_left_out() -> None:
    text = """
        if(WIN32)
          set(NAME ON_WINDOWS)
          add_definitions(-D_UNICODE)
        else()
          set(NAME ON_POSIX)
        endif()
        add_library(lib a.cc)
        target_compile_definitions(lib PRIVATE ${NAME}=1 INTERFACE FOR_USERS)
        target_compile_definitions(some-test PRIVATE FOR_ONE_PROGRAM)
        if(SOME_OPTION)
          add_compile_definitions(PERHAPS)
        endif()
    """
    assert read_hints("CMakeLists.txt", text).macros == ("ON_POSIX=1",)


def test_a_makefiles_macros_are_those_of_all_its_programs() -> None:
    text = (
        'CPPFLAGS += -DALL -DLEVEL=3 \\\n  -DQUOTED=\\"x\\" -DSET=$(X)\n'
        "a.o: CFLAGS += -DONE_FILE\nifeq ($(OS),AIX)\nCFLAGS += -DAIX\nendif\n\tcc -DRECIPE a.c\n"
        "DEFS = -DHAVE_CONFIG_H\nall_CPPFLAGS = -DONE_PROGRAM\n"
    )
    assert read_hints("Makefile", text).macros == ("ALL", "LEVEL=3")


def test_folders_of_headers_are_named_from_the_root() -> None:
    assert read_hints("src/Makefile", "CFLAGS=-I../deps/lua -I$(X)/y -I$(srcdir)").folders == (
        "deps/lua",
        "src",
    )
    cmake = "target_include_directories(x PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)"
    assert read_hints("lib/CMakeLists.txt", cmake).folders == ("include",)


def test_the_nearest_build_file_counts(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "Makefile").write_text("CFLAGS = -std=gnu11 -DX=1")
    (tmp_path / "a" / "Makefile").write_text("CFLAGS = -DX=2")
    hints = BuildHints(tmp_path, ["Makefile", "a/Makefile"])
    assert (hints.standard("a/b.c", cpp=False), hints.macros("a/b.c")) == ("gnu11", ["X=2"])
    assert (hints.standard("b.cc", cpp=True), hints.macros("b.c")) == ("", ["X=1"])
