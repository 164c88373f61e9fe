const smallBytes = 1_024;
const cellBytes = 8 * 1_024;

/** Bytes in order. Small pieces are gathered, so that a stream sent byte by byte costs what its bytes cost. */
export class ByteQueue {
  #pieces: Buffer[] = [];
  #head = 0;
  #length = 0;
  /** Free memory after the last piece, if that piece is our own. */
  #cell: Buffer | undefined;
  #filled = 0;

  get length(): number {
    return this.#length;
  }

  push(piece: Buffer): void {
    this.#length += piece.length;
    if (piece.length >= smallBytes) {
      this.#cell = undefined;
      this.#pieces.push(piece);
      return;
    }
    if (
      this.#cell &&
      this.#filled + piece.length <= this.#cell.length &&
      this.#pieces.length > this.#head
    ) {
      piece.copy(this.#cell, this.#filled);
      const last = this.#pieces.length - 1;
      this.#pieces[last] = Buffer.from(
        this.#cell.buffer,
        this.#pieces[last]!.byteOffset,
        this.#pieces[last]!.length + piece.length,
      );
    } else {
      this.#cell = Buffer.allocUnsafeSlow(Math.min(cellBytes, Math.max(64, this.#length * 2)));
      this.#filled = 0;
      piece.copy(this.#cell);
      this.#pieces.push(this.#cell.subarray(0, piece.length));
    }
    this.#filled += piece.length;
  }

  /** The next bytes, at most `most` of them. */
  take(most: number): Buffer {
    const taken: Buffer[] = [];
    let left = Math.min(most, this.#length);
    this.#length -= left;
    while (left > 0) {
      const piece = this.#pieces[this.#head]!;
      if (piece.length > left) {
        taken.push(piece.subarray(0, left));
        this.#pieces[this.#head] = piece.subarray(left);
        break;
      }
      taken.push(piece);
      left -= piece.length;
      this.#head += 1;
    }
    if (this.#head === this.#pieces.length) {
      this.clear();
    } else if (this.#head > 64 && this.#head * 2 > this.#pieces.length) {
      this.#pieces = this.#pieces.slice(this.#head);
      this.#head = 0;
    }
    return taken.length === 1 ? taken[0]! : Buffer.concat(taken);
  }

  clear(): void {
    this.#pieces = [];
    this.#head = 0;
    this.#length = 0;
    this.#cell = undefined;
  }
}
