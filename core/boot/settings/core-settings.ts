import type { SettingDeclaration } from '../../sdk/index.ts';

/** What svc itself can be told. Areas declare theirs in their manifests. */
export const coreSettings: Readonly<Record<string, SettingDeclaration>> = {
  'http.addr': {
    schema: { type: 'string', pattern: '^(\\[[0-9a-fA-F:]+\\]|[^:\\s]+):\\d{1,5}$' },
    default: '127.0.0.1:8080',
    env: 'SVC_HTTP_ADDR',
    description: 'Address and port to listen on.',
    at_start: true,
  },
  'http.public_url': {
    schema: { type: 'string', pattern: '^(https?://[^\\s/]+)?$' },
    default: '',
    env: 'SVC_PUBLIC_URL',
    description: 'Address that links and browser origins use; made from http.addr when empty.',
    at_start: true,
  },
  'http.trusted_proxies': {
    schema: { type: 'array', items: { type: 'string', minLength: 2 } },
    default: [],
    env: 'SVC_TRUSTED_PROXIES',
    description: 'Addresses or CIDR ranges whose X-Forwarded-For is believed; a comma-separated list in the environment.',
    at_start: true,
  },
  'data.dir': {
    schema: { type: 'string', minLength: 1 },
    default: './data',
    env: 'SVC_DATA_DIR',
    description: 'Folder for everything the process keeps.',
    at_start: true,
  },
  'data.secret_key': {
    schema: { type: 'string', pattern: '^([A-Za-z0-9+/_-]{43}=?([\\s,]+[A-Za-z0-9+/_-]{43}=?)*)?$' },
    default: '',
    env: 'SVC_SECRET_KEY',
    sensitive: true,
    description:
      'Base64 of 32 bytes that seal secrets, or several such keys with commas between them, the newest last; a key file in the data folder when empty.',
    at_start: true,
  },
  'outbound.allow_private': {
    schema: {
      type: 'array',
      items: { type: 'string', pattern: '^(\\d{1,3}(\\.\\d{1,3}){3}(/([12]?\\d|3[0-2]))?|[0-9a-fA-F]*:[0-9a-fA-F:.]*(/(\\d{1,2}|1[01]\\d|12[0-8]))?)$' },
    },
    default: [],
    env: 'SVC_OUTBOUND_ALLOW_PRIVATE',
    description:
      'Addresses and networks such as 10.0.0.0/8 or 127.0.0.1 that configured URLs may lead to, besides the internet; a comma-separated list in the environment.',
  },
  'log.level': {
    schema: { enum: ['debug', 'info', 'warn', 'error'] },
    default: 'info',
    env: 'SVC_LOG_LEVEL',
    description: 'Least severe line that is written.',
  },
  'log.format': {
    schema: { enum: ['auto', 'pretty', 'json'] },
    default: 'auto',
    env: 'SVC_LOG_FORMAT',
    description: 'auto writes pretty lines to a terminal and JSON otherwise.',
    at_start: true,
  },
};

/** Names of the environment that the product knows besides settings. */
export const otherEnvironment: ReadonlySet<string> = new Set(['SVC_ROLE', 'SVC_TEST_PEERS']);
