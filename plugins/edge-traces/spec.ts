/** The `spec` of `edge.json`, defaults filled in. */
export interface TraceSpec {
  readonly address: string;
  readonly port: number;
  readonly max_body_bytes: number;
}
