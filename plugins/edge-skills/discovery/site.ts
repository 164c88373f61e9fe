/** Site that a web server of this machine serves by name. */
export interface Site {
  readonly server: 'nginx' | 'caddy';
  readonly url: string;
}

/** Returns the texts of the files that a path, whose last part may have wildcards, stands for. */
export type ReadFiles = (path: string) => Promise<readonly string[]>;

const hostName =
  /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;

/** Returns the names that others can resolve: no wildcard, pattern, or name of this machine alone. */
export const hostNames = (names: readonly string[]): readonly string[] => [
  ...new Set(
    names
      .map((name) => name.toLowerCase())
      .filter((name) => hostName.test(name) && !/(?:^|\.)localhost$/.test(name)),
  ),
];

const usual: Readonly<Record<string, number>> = { http: 80, https: 443 };

export const siteOf = (
  server: Site['server'],
  name: string,
  scheme: string,
  port: number,
): Site => ({ server, url: `${scheme}://${name}${port === usual[scheme] ? '' : `:${port}`}/` });
