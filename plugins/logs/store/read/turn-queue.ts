/**
 * Queue of readers by the position of their next lines: the greatest edge first when reading
 * backward, the least otherwise.
 */
export class TurnQueue<R extends { readonly edge: number | undefined }> {
  readonly #heap: { readonly edge: number; readonly reader: R }[] = [];
  readonly #sign: 1 | -1;

  constructor(backward: boolean) {
    this.#sign = backward ? -1 : 1;
  }

  /** Adds a reader, unless it is at its end. */
  add(reader: R): void {
    if (reader.edge === undefined) {
      return;
    }
    const heap = this.#heap;
    const item = { edge: reader.edge * this.#sign, reader };
    let at = heap.length;
    heap.push(item);
    for (let up = (at - 1) >> 1; at > 0 && heap[up]!.edge > item.edge; up = (at - 1) >> 1) {
      heap[at] = heap[up]!;
      at = up;
    }
    heap[at] = item;
  }

  take(): R | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) {
      return first?.reader;
    }
    let at = 0;
    for (;;) {
      let down = at * 2 + 1;
      if (down >= heap.length) {
        break;
      }
      if (down + 1 < heap.length && heap[down + 1]!.edge < heap[down]!.edge) {
        down++;
      }
      if (heap[down]!.edge >= last.edge) {
        break;
      }
      heap[at] = heap[down]!;
      at = down;
    }
    heap[at] = last;
    return first.reader;
  }
}
