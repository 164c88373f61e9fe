/** Rules of a site for programs, from its robots.txt as RFC 9309 has it. */
export interface Robots {
  /** Returns whether a path, with its query, may be fetched. */
  allows(path: string): boolean;
  /** Pause between requests that the site asks for. */
  readonly delayMs: number;
  /** Addresses of its sitemaps. */
  readonly sitemaps: readonly string[];
}

interface Rule {
  readonly pattern: string;
  readonly isAllowed: boolean;
}

const maxRules = 2_000;
const maxDelayMs = 10_000;
const agent = 'svc';

export function robotsOf(text: string): Robots {
  const sitemaps: string[] = [];
  const own: Rule[] = [];
  const general: Rule[] = [];
  const delays = { own: 0, general: 0 };
  let [names, isNaming]: [string[], boolean] = [[], false];
  let isOwn = false;
  for (const line of text.slice(0, 500 * 1024).split(/\r\n|\r|\n/)) {
    const [, field, value] = /^\s*([A-Za-z-]+)\s*:\s*([^#]*)/.exec(line) ?? [];
    const given = value?.trim() ?? '';
    switch (field?.toLowerCase()) {
      case 'sitemap':
        sitemaps.push(given);
        break;
      case 'user-agent':
        names = isNaming ? [...names, given.toLowerCase()] : [given.toLowerCase()];
        isNaming = true;
        isOwn ||= given.toLowerCase() === agent;
        break;
      case 'allow':
      case 'disallow':
        isNaming = false;
        if (given !== '' && own.length + general.length < maxRules) {
          const rule = { pattern: given, isAllowed: field.toLowerCase() === 'allow' };
          (names.includes(agent) ? own : names.includes('*') ? general : []).push(rule);
        }
        break;
      case 'crawl-delay':
        isNaming = false;
        if (names.includes(agent) || names.includes('*')) {
          delays[names.includes(agent) ? 'own' : 'general'] = Number(given) * 1000 || 0;
        }
        break;
      default:
    }
  }
  const rules = isOwn ? own : general;
  return {
    allows: (path) => isAllowed(path, rules),
    delayMs: Math.min(maxDelayMs, Math.max(0, isOwn ? delays.own : delays.general)),
    sitemaps,
  };
}

/** The longest rule that fits decides; of two of one length, the one that allows. */
function isAllowed(path: string, rules: readonly Rule[]): boolean {
  let best: Rule | undefined;
  for (const rule of rules) {
    const isLonger =
      best === undefined ||
      rule.pattern.length > best.pattern.length ||
      (rule.pattern.length === best.pattern.length && rule.isAllowed);
    if (isLonger && fits(path, rule.pattern)) {
      best = rule;
    }
  }
  return best?.isAllowed ?? true;
}

/** Compares part by part, so that no pattern takes longer than the path is long. */
function fits(path: string, pattern: string): boolean {
  const isWhole = pattern.endsWith('$');
  const parts = (isWhole ? pattern.slice(0, -1) : pattern).split('*');
  if (!path.startsWith(parts[0]!)) {
    return false;
  }
  let at = parts[0]!.length;
  for (const part of parts.slice(1, -1)) {
    const found = path.indexOf(part, at);
    if (found < 0) {
      return false;
    }
    at = found + part.length;
  }
  if (parts.length === 1) {
    return !isWhole || at === path.length;
  }
  const last = parts.at(-1)!;
  return isWhole
    ? path.length - last.length >= at && path.endsWith(last)
    : path.indexOf(last, at) >= 0;
}
