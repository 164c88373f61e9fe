import { ProtoReader } from 'svc/store';

/** Returns the head of an instrumentation scope, with each part of its name once. */
export function scopeHead(
  bytes: Uint8Array,
  start: number,
  end: number,
): { readonly name: string; readonly version: string } {
  let name = '';
  let version = '';
  const reader = new ProtoReader(bytes, start, end);
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field === 1) {
      name = reader.string();
    } else if (field === 2) {
      version = reader.string();
    } else {
      reader.skip();
    }
  }
  return { name, version };
}
