import { ProtoReader } from 'svc/store';

/** What a scope is called, each part once. */
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
