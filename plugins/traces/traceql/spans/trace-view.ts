import { attribute, type Span, type TraceSpans, type Value } from './span.ts';

/** The family of each span, as numbers of spans; and the nested sets that queries may ask for. */
export interface Tree {
  /** Parent by index; -1: a root; -2: the parent is missing. */
  readonly parent: Int32Array;
  /** Parents before children. Spans whose parents go in a circle are not in it. */
  readonly order: Uint32Array;
  readonly left: Int32Array;
  readonly right: Int32Array;
  readonly childCount: Uint32Array;
}

const unknownRoot = '<root span not yet received>';
const missing = -2;

/** View of one trace for a query: properties of the whole are computed on demand, once. */
export class TraceView {
  readonly traceId: string;
  readonly spans: readonly Span[];
  #tree: Tree | undefined;
  #root: Span | null | undefined;
  #extent: { start: bigint; durationNs: number } | undefined;

  constructor({ traceId, spans }: TraceSpans) {
    this.traceId = traceId;
    this.spans = spans;
  }

  get tree(): Tree {
    return (this.#tree ??= treeOf(this.spans));
  }

  /** The earliest span without a parent. */
  get root(): Span | undefined {
    if (this.#root === undefined) {
      this.#root = null;
      for (const span of this.spans) {
        if (span.parentId === '' && (this.#root === null || span.startNs < this.#root.startNs)) {
          this.#root = span;
        }
      }
    }
    return this.#root ?? undefined;
  }

  get rootName(): string {
    return this.root?.name ?? unknownRoot;
  }

  get rootService(): string {
    return this.root === undefined ? unknownRoot : serviceOf(this.root);
  }

  /** Extent from the first start to the last end. */
  get extent(): { readonly start: bigint; readonly durationNs: number } {
    if (this.#extent === undefined) {
      let start = this.spans[0]?.startNs ?? 0n;
      for (const span of this.spans) {
        start = span.startNs < start ? span.startNs : start;
      }
      let durationNs = 0;
      for (const span of this.spans) {
        durationNs = Math.max(durationNs, Number(span.startNs - start) + span.durationNs);
      }
      this.#extent = { start, durationNs };
    }
    return this.#extent;
  }

  get services(): ReadonlyMap<string, { readonly spanCount: number; readonly errorCount: number }> {
    const services = new Map<string, { spanCount: number; errorCount: number }>();
    for (const span of this.spans) {
      const name = serviceOf(span);
      let counts = services.get(name);
      if (counts === undefined) {
        services.set(name, (counts = { spanCount: 0, errorCount: 0 }));
      }
      counts.spanCount++;
      counts.errorCount += span.status === 2 ? 1 : 0;
    }
    return services;
  }
}

export function serviceOf(span: Span): string {
  const value: Value | undefined = attribute(span.resource, 'service.name');
  return value?.type === 'string' ? value.value : '';
}

function treeOf(spans: readonly Span[]): Tree {
  const parent = parentsOf(spans);
  const count = spans.length;
  const childCount = new Uint32Array(count);
  const firstChild = new Int32Array(count).fill(-1);
  const nextSibling = new Int32Array(count).fill(-1);
  for (let i = count - 1; i >= 0; i--) {
    const above = parent[i]!;
    if (above >= 0) {
      childCount[above]!++;
      nextSibling[i] = firstChild[above]!;
      firstChild[above] = i;
    }
  }
  const left = new Int32Array(count);
  const right = new Int32Array(count);
  const order = new Uint32Array(count);
  let placed = 0;
  let number = 0;
  for (let top = 0; top < count; top++) {
    if (parent[top]! >= 0) {
      continue;
    }
    let at = top;
    for (;;) {
      left[at] = ++number;
      order[placed++] = at;
      if (firstChild[at]! >= 0) {
        at = firstChild[at]!;
        continue;
      }
      right[at] = ++number;
      while (at !== top && nextSibling[at]! < 0) {
        at = parent[at]!;
        right[at] = ++number;
      }
      if (at === top) {
        break;
      }
      at = nextSibling[at]!;
    }
  }
  return { parent, order: order.subarray(0, placed), left, right, childCount };
}

/**
 * Returns parents. An id may belong to two spans: client and server of one call that share it. Then
 * the server's is the child of the client's, and further children are the server's.
 */
function parentsOf(spans: readonly Span[]): Int32Array {
  const first = new Map<string, number>();
  const shared = new Map<string, number>();
  spans.forEach((span, index) => {
    const other = first.get(span.id);
    if (other === undefined) {
      first.set(span.id, index);
    } else if (span.kind === 2 && spans[other]!.kind === 3) {
      shared.set(span.id, index);
    } else if (span.kind === 3 && spans[other]!.kind === 2) {
      first.set(span.id, index);
      shared.set(span.id, other);
    }
  });
  return Int32Array.from(spans, (span, index) => {
    if (shared.get(span.id) === index) {
      return first.get(span.id)!;
    }
    if (span.parentId === '') {
      return -1;
    }
    const found = shared.get(span.parentId) ?? first.get(span.parentId) ?? missing;
    return found === index ? missing : found;
  });
}
