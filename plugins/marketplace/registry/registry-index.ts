import semver from 'semver';
import { parseForeignJson, type SvcError } from 'svc/sdk';

import { idForm } from '../layout/pack-form.ts';
import { errors } from './errors.ts';

/** Location of the files of an offered pack. */
export type OfferSource =
  | {
      readonly kind: 'archive';
      readonly url: string;
      readonly sha256: string;
      readonly signature: string | undefined;
    }
  | {
      readonly kind: 'git';
      readonly url: string;
      readonly commit: string | undefined;
      readonly ref: string | undefined;
      readonly path: string;
    }
  /** Below the registry itself. */
  | { readonly kind: 'inside'; readonly path: string }
  | { readonly kind: 'none'; readonly why: string };

export interface Offer {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly publisher: string;
  readonly homepage: string;
  /** Newest first. */
  readonly versions: readonly {
    readonly version: string;
    readonly source: OfferSource;
    readonly engines: string | undefined;
  }[];
  /** The entry of a Claude marketplace, which may be the whole manifest. */
  readonly entry: Readonly<Record<string, unknown>> | undefined;
}

export interface RegistryContent {
  readonly format: 'svc' | 'claude';
  readonly title: string;
  readonly offers: readonly Offer[];
}

type Json = Readonly<Record<string, unknown>>;

const maxOffers = 10_000;
const claudeName = /^[A-Za-z0-9][\w.@/ -]{0,99}$/;
const refused = (message: string): SvcError => errors.registry_refused({ message });

/**
 * Parses the offers of a registry, in our format or that of a Claude marketplace; unreadable
 * entries are skipped, and do not hide others.
 */
export function readIndex(text: string, base: string): RegistryContent {
  let json: unknown;
  try {
    json = parseForeignJson(text);
  } catch {
    throw refused(
      'is not JSON; use the address of an index, or of a .claude-plugin/marketplace.json',
    );
  }
  const { name, packs, plugins, version } = objectOf(json) as {
    name?: unknown;
    packs?: unknown;
    plugins?: unknown;
    version?: unknown;
  };
  const title = short(name, 80) ?? 'unnamed';
  if (Array.isArray(packs)) {
    if (version !== 1) {
      throw refused('has an index of another version than 1, the one that is known here');
    }
    return {
      format: 'svc',
      title,
      offers: onlyFirst(
        packs.slice(0, maxOffers).flatMap((pack) => ownOffer(objectOf(pack), base)),
      ),
    };
  }
  if (Array.isArray(plugins)) {
    const root = short(objectOf(objectOf(json)['metadata'])['pluginRoot'], 200) ?? '';
    return {
      format: 'claude',
      title,
      offers: onlyFirst(
        plugins.slice(0, maxOffers).flatMap((plugin) => claudeOffer(objectOf(plugin), root, base)),
      ),
    };
  }
  throw refused('lists neither "packs" nor "plugins"');
}

/** Drops later offers of the same name: what is shown is what would be installed. */
const onlyFirst = (offers: readonly Offer[]): readonly Offer[] =>
  [...new Map(offers.toReversed().map((offer) => [offer.name, offer])).values()].toReversed();

function ownOffer(pack: Json, base: string): Offer[] {
  const id = pack['id'];
  const name = typeof id === 'string' && idForm.test(id) ? id : undefined;
  const listed = Array.isArray(pack['versions']) ? pack['versions'].map(objectOf) : [];
  const versions = listed.slice(0, 500).flatMap((one) => {
    const version = short(one['version'], 60);
    const url = against(base, short(one['url'], 2_000));
    const sha256 = short(one['sha256'], 64)?.toLowerCase();
    const isWhole =
      version !== undefined &&
      semver.valid(version) !== null &&
      url !== undefined &&
      sha256 !== undefined &&
      /^[0-9a-f]{64}$/.test(sha256);
    return isWhole
      ? [
          {
            version,
            engines: short(one['engines'], 60),
            source: {
              kind: 'archive' as const,
              url,
              sha256,
              signature: short(one['signature'], 200),
            },
          },
        ]
      : [];
  });
  if (name === undefined || versions.length === 0) {
    return [];
  }
  return [
    {
      name,
      title: short(pack['name'], 80) ?? name,
      description: short(pack['description'], 1_000) ?? '',
      publisher: short(pack['publisher'], 200) ?? '',
      homepage: short(pack['homepage'], 500) ?? '',
      versions: versions.toSorted((a, b) => semver.rcompare(a.version, b.version)),
      entry: undefined,
    },
  ];
}

function claudeOffer(plugin: Json, root: string, base: string): Offer[] {
  const given = plugin['name'];
  const name = typeof given === 'string' && claudeName.test(given) ? given : undefined;
  if (name === undefined) {
    return [];
  }
  const { name: owner } = objectOf(plugin['author']) as { name?: unknown };
  const { source: _where, ...entry } = plugin;
  return [
    {
      name,
      title: short(plugin['displayName'], 80) ?? name,
      description: short(plugin['description'], 1_000) ?? '',
      publisher: short(owner, 200) ?? '',
      homepage: short(plugin['homepage'], 500) ?? '',
      versions: [
        {
          version: short(plugin['version'], 60) ?? '0.0.0',
          engines: undefined,
          source: claudeSource(plugin['source'], root, base),
        },
      ],
      entry,
    },
  ];
}

function claudeSource(source: unknown, root: string, base: string): OfferSource {
  if (typeof source === 'string') {
    return { kind: 'inside', path: source.startsWith('./') ? source : `${root}/${source}` };
  }
  const {
    source: kind,
    repo,
    url,
    ref,
    sha,
    path,
    sha256,
  } = objectOf(source) as Record<string, unknown>;
  const commit = typeof sha === 'string' && /^[0-9a-f]{40}$/.test(sha) ? sha : undefined;
  const at = { commit, ref: short(ref, 200), path: short(path, 400) ?? '' };
  if (
    kind === 'github' &&
    typeof repo === 'string' &&
    /^[\w.-]{1,100}\/[\w.-]{1,100}$/.test(repo)
  ) {
    return { kind: 'git', url: `https://github.com/${repo}.git`, ...at };
  }
  if ((kind === 'url' || kind === 'git-subdir') && typeof url === 'string') {
    const address = /^[\w.-]{1,100}\/[\w.-]{1,100}$/.test(url)
      ? `https://github.com/${url}.git`
      : url;
    return { kind: 'git', url: address.slice(0, 2_000), ...at };
  }
  const archive = against(base, short(url, 2_000));
  if (
    kind === 'archive' &&
    archive !== undefined &&
    typeof sha256 === 'string' &&
    /^[0-9a-f]{64}$/i.test(sha256)
  ) {
    return { kind: 'archive', url: archive, sha256: sha256.toLowerCase(), signature: undefined };
  }
  return {
    kind: 'none',
    why: `its source is of the kind ${JSON.stringify(short(kind, 40) ?? 'unknown')}, which svc does not support`,
  };
}

/** Resolves an address relative to the index; undefined if it is invalid. */
function against(base: string, url: string | undefined): string | undefined {
  if (url === undefined || /^[a-z][a-z0-9+.-]*:/i.test(url)) {
    return url;
  }
  if (base.startsWith('/')) {
    return `${base.replace(/\/[^/]*\.json$|\/+$/, '')}/${url.replace(/^\.\//, '')}`;
  }
  return URL.canParse(url, base) ? new URL(url, base).href : undefined;
}

const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};

/** A text of a stranger: without what moves a terminal, turns its direction or is not seen. */
function short(value: unknown, most: number): string | undefined {
  const text =
    typeof value === 'string' ? value.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, ' ').trim() : '';
  return text === '' ? undefined : text.slice(0, most);
}
