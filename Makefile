# karzer. One makefile, no recursion; a folder is a library, a program is a
# list of folders. `make` builds into build/ and installs nothing.
#
#   make            build/bin/karzer and its helpers
#   make run        set up, build, run print(1), show the attack table
#   make check      set up, build, run every test
#   make install    PREFIX (/usr/local), DESTDIR
#   make bench      numbers against peers, as ratios
#   make fuzz       long fuzzing; check-kernels: the whole suite under qemu

PREFIX ?= /usr/local
DESTDIR ?=
BUILD ?= build
CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
VERSION := 0.1.0

WARN := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes \
        -Wmissing-prototypes -Wvla -Wno-missing-field-initializers -Werror
OPT ?= -O2 -g
CFLAGS_ALL = -std=gnu11 -D_GNU_SOURCE -DKARZER_VERSION='"$(VERSION)"' -I. \
             -I$(BUILD)/gen $(WARN) $(OPT) -ffunction-sections -fdata-sections \
             -fstack-protector-strong -MMD -MP $(CFLAGS)
LDFLAGS_ALL = -static -Wl,--gc-sections -Wl,-z,norelro -Wl,--build-id=none \
              $(LDFLAGS)

srcs = $(sort $(wildcard $(1)/*.c))
objs = $(patsubst %.c,$(BUILD)/obj/%.o,$(foreach d,$(1),$(call srcs,$(d))))

BIN := $(BUILD)/bin/karzer
LIBEXEC := $(BUILD)/libexec/karzer
SHARE := $(BUILD)/share/karzer

PROGRAMS := $(BIN) $(LIBEXEC)/karzer-jail $(LIBEXEC)/karzer-agent
RUNTIME := $(SHARE)/runtime/python/.built

all: $(PROGRAMS) $(RUNTIME) $(BUILD)/lib/libkarzer.a

$(BUILD)/obj/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) -c $< -o $@

# The seccomp programs are compiled at build time from one table.
GEN := $(BUILD)/gen/jail/seccomp_programs.h
$(BUILD)/tools/seccomp_gen: tools/seccomp_gen.c jail/seccomp.def Makefile
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE -I. $(WARN) -O1 $< -o $@ -lseccomp
$(GEN): $(BUILD)/tools/seccomp_gen
	@mkdir -p $(@D)
	$< > $@.new && mv $@.new $@
$(call objs,jail): $(GEN)

$(BIN): $(call objs,src/cli src/tier src/core src/cell src/base)
	@mkdir -p $(@D)
	$(CC) $(OPT) $^ $(LDFLAGS_ALL) -o $@ -ljansson -lcrypto
$(LIBEXEC)/karzer-jail: $(call objs,jail src/base)
	@mkdir -p $(@D)
	$(CC) $(OPT) $^ $(LDFLAGS_ALL) -o $@
$(LIBEXEC)/karzer-agent: $(call objs,agent)
	@mkdir -p $(@D)
	$(CC) $(OPT) $^ $(LDFLAGS_ALL) -o $@
$(BUILD)/lib/libkarzer.a: $(call objs,src/client src/base)
	@mkdir -p $(@D)
	rm -f $@ && ar rcs $@ $^

# Bytecode for the interpreter of this host, if there is one; others compile
# the source at their first import.
$(RUNTIME): $(wildcard runtime/python/*.py)
	@mkdir -p $(@D)
	cp $^ $(@D)/
	if [ -x /usr/bin/python3 ]; then /usr/bin/python3 -I -m py_compile \
	    $(addprefix $(@D)/,$(notdir $^)); fi
	touch $@

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/libexec/karzer \
	    $(DESTDIR)$(PREFIX)/share/karzer $(DESTDIR)$(PREFIX)/lib \
	    $(DESTDIR)$(PREFIX)/include/karzer
	install $(BIN) $(DESTDIR)$(PREFIX)/bin/
	install $(LIBEXEC)/karzer-* $(DESTDIR)$(PREFIX)/libexec/karzer/
	cp -R --preserve=mode,timestamps $(SHARE)/. \
	    $(DESTDIR)$(PREFIX)/share/karzer/
	install -m 644 include/karzer/karzer.h $(DESTDIR)$(PREFIX)/include/karzer/
	install -m 644 $(BUILD)/lib/libkarzer.a $(DESTDIR)$(PREFIX)/lib/

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
.PHONY: all install clean run check bench fuzz check-kernels
