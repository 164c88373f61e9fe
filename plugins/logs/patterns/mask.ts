/** What stands in a template for what differs; the placeholder of LogQL's pattern filters. */
export const anything = '<_>';

// oxlint-disable-next-line no-control-regex -- colours of terminals
const colour = /\u001b\[[\d;]*m/g;

/** What is never part of what a line says, the most specific first. */
const variable: readonly RegExp[] = [
  // Instants.
  /(?<![\w<])\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?(?!\w)/gi,
  // UUIDs.
  /(?<![\w<])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?!\w)/gi,
  // Addresses of networks and cards, with ports.
  /(?<![\w<])(?:\d{1,3}\.){3}\d{1,3}(?:\/\d{1,2}|:\d{1,5})?(?!\w)/g,
  /(?<![\w<])(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}(?!\w)/gi,
  /(?<![\w<])\[?(?:[0-9a-f]{1,4}:){3,7}:?[0-9a-f]{0,4}(?:\]:\d{1,5})?(?!\w)/gi,
  // Times of day.
  /(?<![\w<])\d\d:\d\d:\d\d(?:[.,]\d+)?(?!\w)/g,
  // Paths.
  /(?<![\w<])(?:\/[\w.@%+~=-]+){2,}\/?(?!\w)/g,
  // Hex, and numbers with their units.
  /(?<![\w<])(?:0x[0-9a-f]+|(?=[a-f]*\d)[0-9a-f]{8,})(?!\w)/gi,
  /(?<![\w<])[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?[a-z%µ]{0,3}(?!\w)/gi,
];

/** The text with a placeholder for each of them. */
export const masked = (text: string): string => variable.reduce((left, form) => left.replace(form, anything), text.replace(colour, ''));
