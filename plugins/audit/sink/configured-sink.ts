import type { OutboundReply, OutboundRequest, Settings } from 'svc/sdk';

import { errors } from './errors.ts';
import { objectStoreSink } from './object-store.ts';
import type { Sink } from './sink.ts';
import { syslogSink } from './syslog.ts';
import { webhookSink } from './webhook.ts';

export interface SinkParts {
  readonly settings: Pick<Settings, 'get'>;
  /** Name of this machine. */
  readonly name: string;
  readonly now: () => number;
  readonly addressOf: (host: string) => Promise<string>;
  readonly fetch: (url: string, request: OutboundRequest) => Promise<OutboundReply>;
}

const syslogPorts = { udp: 514, tcp: 601, tls: 6514 } as const;

/** Returns the sink that the settings name; undefined if none. The scheme of its address says which protocol it is. */
export function configuredSink({ settings, name, addressOf, ...way }: SinkParts): Sink | undefined {
  const text = settings.get<string>('audit.sink');
  if (text === '') {
    return undefined;
  }
  const [, kind, rest = ''] =
    /^(syslog\+udp|syslog\+tcp|syslog\+tls|s3\+https?|https?):(.*)$/.exec(text) ?? [];
  const isWeb = kind !== undefined && !kind.startsWith('syslog');
  const address = `${isWeb ? kind.replace('s3+', '') : 'http'}:${rest}`;
  if (kind === undefined || !URL.canParse(address)) {
    throw errors.sink_address();
  }
  const url = new URL(address);
  const ca = settings.get<string>('audit.sink_ca');
  if (!isWeb) {
    const protocol = kind.slice('syslog+'.length) as keyof typeof syslogPorts;
    const named = /:(\d+)\/?$/.exec(rest)?.[1];
    return syslogSink({
      protocol,
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: named === undefined ? syslogPorts[protocol] : Number(named),
      ca,
      name,
      addressOf,
    });
  }
  const parts = { url, secret: settings.get<string>('audit.sink_secret'), ca, ...way };
  return kind.startsWith('s3')
    ? objectStoreSink(parts, {
        id: settings.get<string>('audit.sink_key_id'),
        region: settings.get<string>('audit.sink_region'),
      })
    : webhookSink(parts);
}
