/** Error of one line, as a sentence; a sink may throw it, too. */
export class BadLine extends Error {
  override readonly name = 'BadLine';
}
