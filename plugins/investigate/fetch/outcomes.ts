/** Matchers of what failed, by the labels in which services, proxies and clients say how a request ended. */
export const failing: readonly string[] = [
  'code=~"5..|5xx|[Ee]rror|ERROR"',
  'status=~"5..|5xx|[Ee]rror|ERROR|[Ff]ail.*|FAIL.*"',
  'status_code=~"5..|STATUS_CODE_ERROR|[Ee]rror|ERROR"',
  'http_status_code=~"5.."',
  'http_response_status_code=~"5.."',
  'http_status=~"5.."',
  'response_code=~"5..|0"',
  'status_class=~"5.*"',
  'code_class=~"5.*"',
  'envoy_response_code_class="5"',
  'grpc_code=~"Unknown|DeadlineExceeded|Internal|Unavailable|DataLoss|ResourceExhausted|Aborted|Unimplemented"',
  'rpc_grpc_status_code=~"2|4|8|10|12|13|14|15"',
  'grpc_status=~"2|4|8|10|12|13|14|15"',
  'outcome=~"SERVER_ERROR|[Ee]rror|ERROR|[Ff]ail.*"',
  'result=~"[Ee]rror|ERROR|[Ff]ail.*"',
  'error=~"true|1"',
  'success=~"false|0"',
  'error_type!=""',
];

const labelOf = (matcher: string): string => /^\w+/.exec(matcher)![0];

export const outcomeLabels: readonly string[] = [...new Set(failing.map(labelOf))];

/** Returns the matchers for a metric that has these labels; all where nothing is known of them. */
export const failingBy = (labels: ReadonlySet<string> | undefined): readonly string[] =>
  labels === undefined ? failing : failing.filter((matcher) => labels.has(labelOf(matcher)));
