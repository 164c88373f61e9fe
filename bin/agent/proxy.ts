import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { proxyFor } from 'svc/tunnel';
import type { Environment } from '../../core/boot/settings/settings.ts';

/**
 * Maps HTTPS_PROXY and similar variables to the setting of the uplink, for the manager that this
 * host is enrolled with, unless that setting is given.
 */
export function proxyEnvironment(environment: Environment): Environment {
  const file = join(environment['SVC_DATA_DIR'] ?? '', 'edge.json');
  const { manager } = existsSync(file) ? managerIn(readFileSync(file, 'utf8')) : {};
  const proxy =
    environment['SVC_EDGE_PROXY'] ??
    (manager !== undefined && URL.canParse(manager)
      ? proxyFor(new URL(manager), environment)
      : undefined);
  return proxy === undefined ? {} : { SVC_EDGE_PROXY: proxy };
}

function managerIn(text: string): { readonly manager?: string } {
  try {
    const { manager } = JSON.parse(text) as { manager?: unknown };
    return typeof manager === 'string' ? { manager } : {};
  } catch {
    // Whatever reads its keys reports the damage.
    return {};
  }
}
