/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent.h - the frames of the one stream between the engine and the agent
 * inside a cell. Compiled by both sides.
 *
 * A frame is struct agent_frame, then `size` bytes. All integers are little
 * endian, as x86_64 stores them; strings in payloads end with NUL. What comes
 * up from the cell is hostile: the engine checks every size and drops the cell
 * on the first frame that breaks a rule.
 *
 * `cmd` names a command or a file operation; the engine chooses it (1 to
 * AGENT_CMD_MAX) and reuses it only after that command's EXITED/EXEC_FAILED or
 * that operation's FILE_DONE/FILE_ERROR.
 */
#ifndef KARZER_ABI_AGENT_H
#define KARZER_ABI_AGENT_H

#include <stddef.h>
#include <stdint.h>

#define AGENT_VERSION 2u
#define AGENT_STREAM_FD 3           /* in the agent */
#define AGENT_CMD_MAX 15u           /* live commands and operations */
#define AGENT_DATA_MAX (128u << 10) /* payload of a data frame */
#define AGENT_EXEC_MAX (1u << 20)   /* payload of EXEC: argv and environment */
#define AGENT_PATH_MAX 4096u        /* with NUL */
#define AGENT_CREDIT_START (64u << 10) /* stdin and runtime bytes, at start */

struct agent_frame {
    uint32_t size; /* payload bytes that follow */
    uint16_t type; /* enum agent_type */
    uint16_t cmd;
};

enum agent_type {
    AGENT_NONE = 0,

    /* engine to agent */
    AGENT_EXEC = 1,    /* struct agent_exec, then strings */
    AGENT_STDIN,       /* bytes, within the credit */
    AGENT_STDIN_EOF,   /* */
    AGENT_RUNTIME_IN,  /* bytes for the command's runtime channel, ditto */
    AGENT_RUNTIME_EOF, /* */
    AGENT_SIGNAL,      /* uint32_t signal, to the command's process group */
    AGENT_KILL_ALL,    /* SIGKILL to all but the agent; commands then exit */
    AGENT_FILE_PUT,    /* struct agent_put, path; FILE_DATA*, FILE_END follow */
    AGENT_FILE_DATA,   /* bytes (both directions) */
    AGENT_FILE_END,    /* (both directions) */
    AGENT_FILE_GET,    /* path; answer: FILE_STAT, FILE_DATA*, FILE_END */
    AGENT_FILE_STAT,   /* path (lstat); answer: FILE_STAT */
    AGENT_FILE_LIST,   /* path; answer: FILE_ENTRY*, FILE_DONE */
    AGENT_FILE_MKDIR,  /* uint32_t mode, path (and parents); FILE_DONE */
    AGENT_FILE_REMOVE, /* path (a directory with all in it); FILE_DONE */
    AGENT_FILE_RENAME, /* from, to; FILE_DONE */
    AGENT_FILE_SYMLINK, /* target, path; FILE_DONE */
    AGENT_SHUTDOWN,     /* kill all, then exit */
    AGENT_RESIZE,       /* struct agent_size: of the command's terminal */

    /* agent to engine */
    AGENT_HELLO = 64,  /* uint32_t version; the first frame */
    AGENT_STARTED,     /* the exec succeeded */
    AGENT_EXEC_FAILED, /* uint32_t errno, uint32_t enum agent_stage */
    AGENT_STDOUT,      /* bytes */
    AGENT_STDERR,      /* bytes */
    AGENT_RUNTIME_OUT, /* bytes from the runtime channel */
    AGENT_CREDIT, /* uint32_t channel (0 stdin, 1 runtime), uint32_t more */
    AGENT_EXITED, /* struct agent_exited; all its output came before */
    AGENT_FILE_STATED, /* struct agent_stat, then link target or nothing */
    AGENT_FILE_ENTRY,  /* struct agent_stat, then name */
    AGENT_FILE_DONE,   /* the operation succeeded */
    AGENT_FILE_ERROR,  /* uint32_t errno; ends the operation */
};

/*
 * EXEC: after this struct come, each NUL-terminated: the working directory,
 * argc arguments, envc "K=V" strings. argv[0] without a slash is looked up in
 * the PATH of *this* environment. stdin, stdout, stderr are pipes; with
 * AGENT_EXEC_TERMINAL they are a terminal of the cell's own /dev/pts, whose
 * other end the agent keeps: STDIN is what is typed, STDOUT all that is shown,
 * STDIN_EOF hangs it up.
 */
struct agent_size {
    uint16_t rows, columns;
};

struct agent_exec {
    uint32_t flags; /* enum agent_exec_flag */
    uint32_t argc;
    uint32_t envc;
    struct agent_size size; /* of the terminal; else zero */
};

enum agent_exec_flag {
    /* When it ends: kill everything else, read all output, EXITED, exit. */
    AGENT_EXEC_LAST = 1,
    /* A socket at fd 3 in the program: its runtime channel (abi/runtime.h). */
    AGENT_EXEC_RUNTIME = 2,
    /* stdin is /dev/null: no STDIN frames will come. */
    AGENT_EXEC_NO_STDIN = 4,
    /* A new terminal, the controlling one; with LAST or alone. */
    AGENT_EXEC_TERMINAL = 8,
};

enum agent_stage {
    AGENT_STAGE_START = 0, /* fork, pipes, the terminal */
    AGENT_STAGE_CHDIR,
    AGENT_STAGE_LOOKUP, /* not found in PATH: exit status 127 */
    AGENT_STAGE_EXEC,   /* found, not started: 126, or 127 on ENOENT */
};

struct agent_exited {
    int32_t code;    /* 0..255, or -1: ended by a signal */
    uint32_t signal; /* 0, or the signal */
};

struct agent_put {
    uint32_t mode; /* permission bits; setuid and the like are refused */
    uint32_t zero;
    uint64_t size; /* expected; 0: not known */
};

struct agent_stat {
    uint64_t size;
    uint64_t mtime_s;
    uint32_t mode; /* with the file type */
    uint32_t links;
    uint64_t blocks; /* of 512 bytes */
};

#endif
