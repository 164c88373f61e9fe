import type { Grouping } from './ast.ts';
import type { Cursor } from './cursor.ts';

/** `by (a, b)` or `without (a)`, where there is one. */
export function parseGrouping(cursor: Cursor): Grouping | undefined {
  const without = cursor.isWord('without');
  if (!without && !cursor.isWord('by')) {
    return undefined;
  }
  cursor.take();
  return { without, labels: parseLabelList(cursor) };
}

export function parseLabelList(cursor: Cursor): string[] {
  cursor.expectSign('(', '(');
  const labels: string[] = [];
  while (!cursor.isSign(')')) {
    labels.push(cursor.expect('IDENTIFIER', 'IDENTIFIER').text);
    if (!cursor.takeSign(',') && !cursor.isSign(')')) {
      throw cursor.unexpected(')', ',');
    }
  }
  cursor.take();
  return labels;
}
