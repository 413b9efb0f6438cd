/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - messages between libkarzer and `karzer engine`, over a stream
 * socket at fd 3 of the engine. Compiled by both sides.
 *
 * A message is struct engine_head and `size` bytes: UTF-8 JSON, or raw bytes
 * (BLOB) where the text below says so. The client asks, the engine answers, one
 * at a time, in order. EOF on either side ends both: the engine then kills
 * every sandbox.
 *
 *   {"op": "sandbox.new", "tier", "lang", "limits": {"mem_bytes": 1, ...},
 *    "env": ["K=V"], "workspace", "workspace_rw", "python",
 *    "may_lack": ["swap"]}               -> {"sandbox": 1}
 *   {"op": "sandbox.run", "sandbox": 1, "name"} BLOB(code)  -> {"result":
 * {...}}
 *   {"op": "sandbox.exec", "sandbox": 1, "argv": [...]}     -> {"result":
 * {...}}
 *   {"op": "sandbox.put", "sandbox": 1, "path"} BLOB(bytes) -> {}
 *   {"op": "sandbox.get", "sandbox": 1, "path"}             -> {} BLOB(bytes)
 *   {"op": "sandbox.free", "sandbox": 1}                    -> {}
 *
 * A result is what `karzer run --json` prints. A failed request is answered by
 * {"error": {"code": "invalid|denied|limit|host|internal", "text"}} and no
 * blob.
 */
#ifndef KARZER_ABI_ENGINE_H
#define KARZER_ABI_ENGINE_H

#include <stdint.h>

#define ENGINE_FD 3
#define ENGINE_JSON_MAX (64u << 20)
#define ENGINE_BLOB_MAX (256u << 20)
#define ENGINE_SANDBOXES_MAX 64u

enum engine_type { ENGINE_NONE = 0, ENGINE_JSON, ENGINE_BLOB };

struct engine_head {
    uint32_t size; /* little endian */
    uint32_t type; /* enum engine_type */
};

#endif
