/** Data that a world sends: service metrics and exporters, span metrics, logs, spans, or a mixture. */
export const worldKinds = ['metrics', 'spans', 'logs', 'traces', 'mixed'] as const;
export type WorldKind = (typeof worldKinds)[number];

/** Language of a service, which decides the library that tells of it. */
export type Language = 'java' | 'go' | 'node' | 'python';
