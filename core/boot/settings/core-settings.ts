import settings from '../../../config/core-settings.json' with { type: 'json' };
import type { SettingDeclaration } from '../../sdk/index.ts';

/** Settings of svc itself. Areas declare theirs in their manifests. */
export const coreSettings: Readonly<Record<string, SettingDeclaration>> = settings;

/** Names of the environment that the product knows besides settings. */
export const otherEnvironment: ReadonlySet<string> = new Set([
  'SVC_ROLE',
  'SVC_TEST_BUILT',
  'SVC_TEST_DATABASE',
  'SVC_TEST_DISK',
  'SVC_TEST_DRILLS',
  'SVC_TEST_NETWORK',
  'SVC_TEST_PEERS',
  'SVC_TEST_PGBOUNCER',
  'SVC_TEST_POSTGRES',
  'SVC_TEST_POSTGRES_PORT',
  'SVC_TEST_POSTGRES_WAY',
]);
