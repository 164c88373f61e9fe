import { isSecretName, redactText } from './redaction.ts';

const [longestText, mostItems, deepest] = [300, 50, 6];

/** Plain JSON as it may be kept in a log: secrets hidden by name and by shape, bounded in every direction. */
export function redactValue(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') {
    return redactText(value.length > longestText ? `${value.slice(0, longestText)}…` : value);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  if (depth >= deepest) {
    return '…';
  }
  if (Array.isArray(value)) {
    return value.slice(0, mostItems).map((item) => redactValue(item, depth + 1));
  }
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, mostItems)
      .map(([name, item]) => [name.slice(0, longestText), isSecretName(name) && typeof item !== 'number' ? '[redacted]' : redactValue(item, depth + 1)]),
  );
}
