# karzer. One makefile, no recursion; a folder is a library, a program is a
# list of folders. `make` builds into build/ and installs nothing.
#
#   make            build/bin/karzer and its helpers
#   make run        set up, build, run print(1), show the attack table
#   make check      set up, build, run every test
#   make install    PREFIX (/usr/local), DESTDIR
#   make deb        build/deb/karzer_VERSION_ARCH.deb
#   make bench      numbers against peers, as ratios
#   make fuzz       ten minutes of each fuzzer; make soak: the long robustness
#   make check-kernels   the whole suite on Debian's kernel, under qemu
#   make analyze         gcc -fanalyzer, cppcheck, clang-tidy
#   make conformance     CPython's test suite in a cell, module by module
#   make coverage        which lines the unit and tier tests reach

PREFIX ?= /usr/local
DESTDIR ?=
BUILD ?= build
CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
VERSION := 0.1.0
DATE := 2026-12-01

WARN := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes \
        -Wmissing-prototypes -Wvla -Wno-missing-field-initializers -Werror
OPT ?= -O2 -g
CFLAGS_ALL = -std=gnu11 -D_GNU_SOURCE -DKARZER_VERSION='"$(VERSION)"' \
             -DKARZER_DATE='"$(DATE)"' -I. \
             -I$(BUILD)/gen $(WARN) $(OPT) -ffunction-sections -fdata-sections \
             -fstack-protector-strong -MMD -MP $(CFLAGS)
# The programs are static, with musl where musl-gcc is installed: they start in
# 0.1 ms, with glibc in 0.4 (docs/decisions/0003-musl.md). Kernel headers and
# static libraries are the host's. Tests and other compilers use glibc.
MUSL ?= $(if $(filter gcc,$(CC)),$(shell command -v musl-gcc))
PROGRAM_CC := $(or $(MUSL),$(CC))
PROGRAM_CFLAGS := $(if $(MUSL),-idirafter /usr/include \
                  -idirafter /usr/include/$(shell $(CC) -print-multiarch))
LIBDIR := $(shell dirname $$($(CC) -print-file-name=libjansson.a))
LDFLAGS_ALL = -static -Wl,--gc-sections -Wl,-z,norelro -Wl,--build-id=none \
              $(LDFLAGS)

# One short line a step; `make V=1` shows the commands.
Q := $(if $(V),,@)
say = @echo "  $(1) $(patsubst $(BUILD)/%,%,$@)"

srcs = $(sort $(wildcard $(1)/*.c))
objs = $(patsubst %.c,$(BUILD)/obj/%.o,$(foreach d,$(1),$(call srcs,$(d))))
programs = $(patsubst %.c,$(BUILD)/program/%.o,\
           $(foreach d,$(1),$(call srcs,$(d))))

BIN := $(BUILD)/bin/karzer
TEMPLATE_CORE = $(addprefix $(BUILD)/obj/src/core/,template.o output.o)
LIBEXEC := $(BUILD)/libexec/karzer
SHARE := $(BUILD)/share/karzer

PROGRAMS := $(BIN) $(LIBEXEC)/karzer-jail $(LIBEXEC)/karzer-agent \
            $(LIBEXEC)/karzer-template $(LIBEXEC)/karzer-scope
LANGUAGES := $(notdir $(wildcard runtime/*))
RUNTIME := $(LANGUAGES:%=$(SHARE)/runtime/%/.built)
# For man(1) and the shells, where these look for them below a prefix.
MAN := $(BUILD)/share/man/man1/karzer.1
BASH := $(BUILD)/share/bash-completion/completions/karzer
ZSH := $(BUILD)/share/zsh/site-functions/_karzer

EXAMPLES := $(patsubst %.c,$(BUILD)/%,$(wildcard examples/*.c))

all: $(PROGRAMS) $(RUNTIME) $(BUILD)/lib/libkarzer.a $(EXAMPLES) $(MAN) $(BASH) $(ZSH)

$(BUILD)/obj/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CFLAGS_ALL) -c $< -o $@

$(BUILD)/program/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(PROGRAM_CC) $(CFLAGS_ALL) $(PROGRAM_CFLAGS) -c $< -o $@

# The seccomp programs are compiled at build time from one table.
GEN := $(BUILD)/gen/jail/seccomp_programs.h
NAMES := $(BUILD)/gen/src/core/call_names.h
$(BUILD)/tools/seccomp_gen: tools/seccomp_gen.c tools/seccomp_table.c \
    tools/seccomp_table.h jail/seccomp.def jail/seccomp.h Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE -I. $(WARN) -O1 $(filter %.c,$^) -o $@
$(GEN): $(BUILD)/tools/seccomp_gen
	@mkdir -p $(@D)
	$(Q)$< > $@.new && mv $@.new $@
$(NAMES): $(BUILD)/tools/seccomp_gen
	@mkdir -p $(@D)
	$(Q)$< names > $@.new && mv $@.new $@
$(call objs,jail) $(call programs,jail): $(GEN)
$(call objs,src/core) $(call programs,src/core): $(NAMES)

# What man(1) and the shells know comes from the tables that the parser reads.
CLIGEN := $(BUILD)/tools/cligen
$(CLIGEN): $(call objs,tools/cligen) \
    $(patsubst %,$(BUILD)/obj/src/%.o,cli/options core/limits base/err)
	@mkdir -p $(@D)
	$(Q)$(CC) $(OPT) $(CFLAGS) $^ -o $@
cligen = @mkdir -p $(@D) && $(CLIGEN) $(1) >$@.new && mv $@.new $@
$(MAN): $(CLIGEN)
	$(call cligen,man)
$(BASH): $(CLIGEN)
	$(call cligen,bash)
$(ZSH): $(CLIGEN)
	$(call cligen,zsh)

MUSL_SHIM := $(if $(MUSL),$(BUILD)/program/musl/chk.o)
$(BIN): $(call programs,src/cli src/tier src/core src/cell src/base) \
    $(MUSL_SHIM)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(PROGRAM_CC) $(OPT) $^ $(LDFLAGS_ALL) -o $@ \
	    $(LIBDIR)/libjansson.a $(LIBDIR)/libcrypto.a
$(LIBEXEC)/karzer-jail: $(call programs,jail src/base)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(PROGRAM_CC) $(OPT) $^ $(LDFLAGS_ALL) -o $@
$(LIBEXEC)/karzer-scope: $(call programs,scope src/base)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(PROGRAM_CC) $(OPT) $^ $(LDFLAGS_ALL) -o $@
$(LIBEXEC)/karzer-agent: $(call programs,agent)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(PROGRAM_CC) $(OPT) $^ $(LDFLAGS_ALL) -o $@

# What parses archives needs libarchive, and no other program does: dynamic.
$(LIBEXEC)/karzer-template: $(call objs,src/template) $(TEMPLATE_CORE) \
    $(call objs,src/base)
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(OPT) $^ $(LDFLAGS) -pie -Wl,--gc-sections -Wl,-z,relro,-z,now \
	    -Wl,--as-needed -larchive -o $@ \
	    $(LIBDIR)/libjansson.a $(LIBDIR)/libcrypto.a

# libkarzer is one object that shows only karzer_*: what it shares with the
# other programs cannot clash with a name of its user.
LIB_OBJS := $(patsubst %.c,$(BUILD)/pic/%.o,$(call srcs,src/client) \
            src/base/buf.c src/base/err.c)
$(BUILD)/gen/prefix.h: FORCE
	@mkdir -p $(@D)
	@echo '#define KARZER_PREFIX "$(PREFIX)"' >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
$(BUILD)/pic/%.o: %.c $(BUILD)/gen/prefix.h Makefile
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CFLAGS_ALL) -fPIC -include $(BUILD)/gen/prefix.h -c $< -o $@
$(BUILD)/lib/libkarzer.a: $(LIB_OBJS)
	@mkdir -p $(@D)
	$(Q)$(LD) -r -o $(BUILD)/pic/karzer.o $^
	$(Q)objcopy -w --keep-global-symbol='karzer_*' $(BUILD)/pic/karzer.o
	$(Q)rm -f $@ && ar rcs $@ $(BUILD)/pic/karzer.o
$(EXAMPLES): $(BUILD)/%: %.c include/karzer/karzer.h $(BUILD)/lib/libkarzer.a
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c99 $(WARN) $(OPT) $(CFLAGS) -Iinclude $< \
	    -L$(BUILD)/lib -lkarzer -o $@

# Bytecode for the interpreters of this host; others compile the source when
# they start.
$(SHARE)/runtime/python/.built: $(wildcard runtime/python/*.py) tools/pyc.py
	@mkdir -p $(@D)
	$(Q)rm -rf $(@D)/*.py $(@D)/__pycache__
	$(Q)cp runtime/python/*.py $(@D)/
	$(Q)for py in /usr/bin/python3.[0-9] /usr/bin/python3.[0-9][0-9]; do \
	    [ ! -x $$py ] || $$py -I -S tools/pyc.py $(@D) || exit; done
	@touch $@

# The others are read as they are.
define copied
$(SHARE)/runtime/$(1)/.built: $(filter-out %.md,$(wildcard runtime/$(1)/*.*))
	@mkdir -p $$(@D)
	$(Q)rm -f $$(@D)/*.*
	$(Q)cp $$^ $$(@D)/
	@touch $$@
endef
$(foreach l,$(filter-out python,$(LANGUAGES)),$(eval $(call copied,$(l))))

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/libexec/karzer \
	    $(DESTDIR)$(PREFIX)/share/karzer $(DESTDIR)$(PREFIX)/lib \
	    $(DESTDIR)$(PREFIX)/include/karzer
	install $(BIN) $(DESTDIR)$(PREFIX)/bin/
	install $(LIBEXEC)/karzer-* $(DESTDIR)$(PREFIX)/libexec/karzer/
	cp -R --preserve=mode,timestamps $(SHARE)/. \
	    $(DESTDIR)$(PREFIX)/share/karzer/
	for f in $(MAN) $(BASH) $(ZSH); do install -D -m 644 $$f \
	    $(DESTDIR)$(PREFIX)/share/$${f#$(BUILD)/share/} || exit; done
	install -m 644 include/karzer/karzer.h $(DESTDIR)$(PREFIX)/include/karzer/
	install -m 644 $(BUILD)/lib/libkarzer.a $(DESTDIR)$(PREFIX)/lib/
	install -d $(DESTDIR)$(PREFIX)/lib/pkgconfig
	sed 's|@PREFIX@|$(PREFIX)|;s|@VERSION@|$(VERSION)|' src/client/karzer.pc.in \
	    >$(DESTDIR)$(PREFIX)/lib/pkgconfig/karzer.pc

deb:
	$(Q)rm -rf $(BUILD)/deb
	@$(MAKE) --no-print-directory install PREFIX=/usr DESTDIR=$(BUILD)/deb/tree
	$(Q)packaging/deb/build $(BUILD)/deb $(VERSION) $(DATE)

# `make run` and `make check` may install packages; nothing else does. They
# build by a second make, since what compiles is only there after the set-up.
JOBS ?= $(shell nproc)
run:
	@tools/setup run
	@$(MAKE) --no-print-directory -j$(JOBS) all
	@tools/demo $(BIN)

check:
	@tools/setup check
	@tools/check

$(BUILD)/test/inside: $(BUILD)/obj/tests/bench/inside.o
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(OPT) $< $(LDFLAGS_ALL) -o $@
bench: all $(BUILD)/test/inside
	@tools/setup check
	tools/bench $(BUILD) $(or $(RUNS),30)

# --- Tests -------------------------------------------------------------------
# tests/unit/test_X.c is a program of its own, linked with every folder but its
# main.c; one archive per trust domain, so that each pulls only what it uses.
# `make unit` runs them as they are, `make unit-san` under ASan and UBSan.
LIB_DIRS := src/template src/cli src/tier src/core src/cell src/client src/base
LIBS := $(BUILD)/test/libsrc.a $(BUILD)/test/libjail.a $(BUILD)/test/libagent.a \
        $(BUILD)/test/libscope.a
no_main = $(filter-out %/main.o,$(call objs,$(1)))
UNITS := $(patsubst tests/unit/%.c,$(BUILD)/test/%,\
         $(wildcard tests/unit/test_*.c))
FUZZERS := $(patsubst tests/fuzz/%.c,$(BUILD)/test/%,\
           $(wildcard tests/fuzz/fuzz_*.c))
TEST_LIBS = -Wl,--start-group $(LIBS) -Wl,--end-group -ljansson -lcrypto \
             -larchive

$(BUILD)/test/libsrc.a: $(call no_main,$(LIB_DIRS))
$(BUILD)/test/libjail.a: $(call no_main,jail)
$(BUILD)/test/libscope.a: $(call no_main,scope)
$(BUILD)/test/libagent.a: $(call no_main,agent)
$(LIBS):
	@mkdir -p $(@D)
	$(Q)rm -f $@ && ar rcs $@ $^
$(UNITS): $(BUILD)/test/%: $(BUILD)/obj/tests/unit/%.o $(LIBS)
	$(call say,LD)
	$(Q)$(CC) $(OPT) $(CFLAGS) $< $(TEST_LIBS) -lcmocka -o $@
$(FUZZERS): $(BUILD)/test/%: $(BUILD)/obj/tests/fuzz/%.o $(LIBS)
	$(call say,LD)
	$(Q)$(CC) $(OPT) $(CFLAGS) -fsanitize=fuzzer $< $(TEST_LIBS) -o $@
# A program that a test starts: tests/helper/X.c, static like the rest.
HELPERS := $(patsubst tests/helper/%.c,$(BUILD)/helper/%,\
           $(wildcard tests/helper/*.c))
ATTACKS := $(patsubst tests/escape/%.c,$(BUILD)/helper/escape/%,\
           $(wildcard tests/escape/*.c))
$(HELPERS): $(BUILD)/helper/%: $(BUILD)/obj/tests/helper/%.o
$(ATTACKS): $(BUILD)/helper/escape/%: $(BUILD)/obj/tests/escape/%.o
$(HELPERS) $(ATTACKS):
	@mkdir -p $(@D)
	$(call say,LD)
	$(Q)$(CC) $(OPT) $< $(LDFLAGS_ALL) -o $@

SAN := -fsanitize=address,undefined -fno-sanitize-recover=all \
       -fno-omit-frame-pointer
build-units: $(UNITS)
build-fuzzers: $(FUZZERS)
build-helpers: $(HELPERS) $(ATTACKS)
# test_agent starts the agent, which has no sanitizer build: it has no libc.
UNIT_NEEDS = $(LIBEXEC)/karzer-agent
unit: build-units $(UNIT_NEEDS)
	@tools/units $(BUILD)/test
unit-san: $(UNIT_NEEDS)
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/san OPT='-O1 -g' \
	    CFLAGS='$(SAN) -Wno-format-truncation -Wno-unused-function' UNIT_NEEDS= unit
fuzzers:
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/fuzz CC=clang OPT='-O1 -g' \
	    CFLAGS='$(SAN) -fsanitize=fuzzer-no-link' build-fuzzers
fuzz: fuzzers
	@tools/fuzz $(BUILD)/fuzz/test $(or $(FUZZ_SECONDS),600)
# The programs as well, as root runs them in the tier suite; an object leaves its
# counts beside itself, whoever ran it.
# What shares memory with a child until its exec would lose its own counts to it.
COV := BUILD=$(BUILD)/cov MUSL= OPT='-O0 -g' LDFLAGS=--coverage \
       CFLAGS='--coverage -Dvfork=fork'
coverage:
	@tools/setup check
	@$(MAKE) --no-print-directory $(COV) all build-helpers build-units
	@find $(BUILD)/cov -name '*.gcda' -delete
	-@umask 0; $(MAKE) --no-print-directory $(COV) UNIT_NEEDS= unit
	-@umask 0; KARZER_TREE=$(BUILD)/cov /usr/bin/python3 -m pytest -q \
	    -p no:cacheprovider tests/tier -k 'root or not user'
	@tools/coverage $(BUILD)/cov
soak: all build-helpers
	KARZER_LONG=1 KARZER_TREE=$(BUILD) /usr/bin/python3 -m pytest -q \
	    -p no:cacheprovider tests/robust
# gcc -fanalyzer, cppcheck and clang-tidy find nothing.
analyze: $(GEN)
	@tools/setup analyze
	@BUILD=$(BUILD) tools/analyze
# CPython's own tests in a cell, beside a reference; writes the page.
conformance: all
	@tools/setup check
	tests/compat/conformance.py --karzer $(BIN) --page docs/conformance.md
check-kernels: all build-helpers
	tests/kernel/run --all $(BUILD)

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD)/obj $(BUILD)/pic $(BUILD)/program \
    -name '*.d' 2>/dev/null)
FORCE:
.PHONY: all install deb clean run check bench fuzz check-kernels build-units \
    build-fuzzers build-helpers unit unit-san fuzzers coverage soak conformance analyze
