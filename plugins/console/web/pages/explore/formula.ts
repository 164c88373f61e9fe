const first = 'A'.codePointAt(0)!;
export const mostQueries = 8;

/** Returns the letter by which a formula names a query. */
export const letterOf = (index: number): string => String.fromCodePoint(first + index);

/** A text that is none of a formula: in quotes, braces or brackets; or a name. */
const word = /"(?:\\[^]|[^"\\])*"|'(?:\\[^]|[^'\\])*'|`[^`]*`|\{[^{}]*\}|\[[^\]]*\]|[\w:]+/g;

/**
 * Returns a query with the letters in it replaced by the queries that they stand for; undefined if
 * they stand for each other in a circle.
 */
export function resolved(queries: readonly string[], index: number): string | undefined {
  const within = (at: number, above: readonly number[]): string | undefined => {
    let isCircle = false;
    const text = queries[at]!.replace(word, (name) => {
      const other = name.length === 1 ? name.codePointAt(0)! - first : -1;
      if (other < 0 || other >= queries.length) {
        return name;
      }
      const inner = above.includes(other) ? undefined : within(other, [...above, other]);
      isCircle ||= inner === undefined;
      return `(${inner ?? ''})`;
    });
    return isCircle ? undefined : text;
  };
  return within(index, [index]);
}
