import { ProtoWriter } from 'svc/store';

export type Plain =
  | string
  | number
  | boolean
  | bigint
  | readonly Plain[]
  | { readonly [key: string]: Plain };

/** A span to be sent; what is left out is left out of the message, too. */
export interface Sent {
  readonly trace: string;
  readonly id: string;
  readonly parent?: string;
  readonly name?: string;
  readonly kind?: number;
  readonly status?: number;
  readonly message?: string;
  readonly startMs?: number;
  readonly ms?: number;
  readonly attributes?: Readonly<Record<string, Plain>>;
  readonly events?: readonly {
    readonly name: string;
    readonly attributes?: Readonly<Record<string, Plain>>;
  }[];
  readonly links?: readonly { readonly trace: string; readonly id: string }[];
}

export const startMs = 1_795_200_000_000;

/** An export request with one resource. */
export function bodyOf(
  resource: Readonly<Record<string, Plain>>,
  ...spans: readonly Sent[]
): Uint8Array {
  const writer = new ProtoWriter();
  writer.message(1, (resourceSpans) => {
    resourceSpans.message(1, (message) => attributes(message, 1, resource));
    resourceSpans.message(2, (scopeSpans) => {
      scopeSpans.message(1, (scope) => scope.string(1, 'lib').string(2, '1.0'));
      spans.forEach((span) => scopeSpans.message(2, (message) => writeSpan(message, span)));
    });
  });
  return Uint8Array.from(writer.finish());
}

function writeSpan(writer: ProtoWriter, span: Sent): void {
  const start = BigInt(span.startMs ?? startMs) * 1_000_000n;
  writer.bytes(1, Buffer.from(span.trace, 'hex')).bytes(2, Buffer.from(span.id, 'hex'));
  if (span.parent !== undefined) {
    writer.bytes(4, Buffer.from(span.parent, 'hex'));
  }
  writer
    .string(5, span.name ?? 'op')
    .uint(6, span.kind ?? 2)
    .fixed64(7, start)
    .fixed64(8, start + BigInt((span.ms ?? 10) * 1e6));
  attributes(writer, 9, span.attributes ?? {});
  span.events?.forEach((event) =>
    writer.message(11, (message) => {
      message.fixed64(1, start + 5_000_000n).string(2, event.name);
      attributes(message, 3, event.attributes ?? {});
    }),
  );
  span.links?.forEach((link) =>
    writer.message(13, (message) =>
      message.bytes(1, Buffer.from(link.trace, 'hex')).bytes(2, Buffer.from(link.id, 'hex')),
    ),
  );
  writer.message(15, (status) => status.string(2, span.message ?? '').uint(3, span.status ?? 0));
}

export function attributes(
  writer: ProtoWriter,
  field: number,
  record: Readonly<Record<string, Plain>>,
): void {
  for (const [key, plain] of Object.entries(record)) {
    writer.message(field, (pair) =>
      pair.string(1, key).message(2, (value) => writeValue(value, plain)),
    );
  }
}

function writeValue(writer: ProtoWriter, plain: Plain): void {
  switch (typeof plain) {
    case 'string':
      writer.string(1, plain);
      return;
    case 'boolean':
      writer.bool(2, plain);
      return;
    case 'bigint':
      writer.int64(3, plain);
      return;
    case 'number':
      if (Number.isInteger(plain)) {
        writer.int64(3, plain);
      } else {
        writer.double(4, plain);
      }
      return;
    default:
      if (Array.isArray(plain)) {
        writer.message(5, (list) =>
          (plain as readonly Plain[]).forEach((one) =>
            list.message(1, (value) => writeValue(value, one)),
          ),
        );
      } else {
        writer.message(6, (map) => attributes(map, 1, plain as Readonly<Record<string, Plain>>));
      }
  }
}

/** Ids that are their number. */
export const traceId = (number: number): string => number.toString(16).padStart(32, '0');
export const spanId = (number: number): string => number.toString(16).padStart(16, '0');
