/** Content of a badge: how a check is now, or how long it was up. */
export type BadgeContent = { readonly label: string } & (
  | { readonly state: 'up' | 'down' | 'stale' | 'waiting' | 'paused' }
  | { readonly ratio: number | null; readonly days: number }
);

const [height, padding, perCharacter] = [20, 6, 6.6];
const colors = {
  up: '#2e7d32',
  down: '#c62828',
  stale: '#9a6700',
  waiting: '#57606a',
  paused: '#57606a',
} as const;
/** Shares of time up from which on a badge is green, and amber. */
const [good, fair] = [0.999, 0.99];

/** Draws a badge as a picture that has all it needs: no font, script or address of another place. */
export function badgeOf(content: BadgeContent): string {
  const [text, color] =
    'state' in content ? [content.state, colors[content.state]] : share(content);
  const label = escaped(content.label);
  const [left, right] = [widthOf(content.label), widthOf(text)];
  const center = height / 2 + 4;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="${height}" role="img" aria-label="${label}: ${text}"><title>${label}: ${text}</title><rect width="${left}" height="${height}" fill="#24292f"/><rect x="${left}" width="${right}" height="${height}" fill="${color}"/><g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle"><text x="${left / 2}" y="${center}">${label}</text><text x="${left + right / 2}" y="${center}">${text}</text></g></svg>\n`;
}

function share({ ratio, days }: { readonly ratio: number | null; readonly days: number }) {
  const range = days === 1 ? '24 h' : `${days} d`;
  if (ratio === null) {
    return [`no data in ${range}`, colors.waiting] as const;
  }
  // Rounded down: what was not up all the time is not 100 %.
  const percent = Math.floor(ratio * 100_000) / 1_000;
  const state = ratio >= good ? 'up' : ratio >= fair ? 'stale' : 'down';
  return [`${percent} % in ${range}`, colors[state]] as const;
}

const widthOf = (text: string): number => Math.ceil(text.length * perCharacter) + 2 * padding;

const escaped = (text: string): string =>
  text
    .replaceAll(/\p{Cc}|\p{Cs}/gu, '')
    .replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
