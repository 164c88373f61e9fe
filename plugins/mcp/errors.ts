import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('mcp', {
  tool_failed: ['upstream_error', '{name}: {texts}'],
  server_failed: ['upstream_error', 'the MCP server {name} {what}'],
  server_gone: ['unavailable', 'no server in mcp.servers brings {key} any more'],
  changed_before_call: [
    'conflict',
    'tool {key} not called: its description or schema has changed since it was classed; an administrator compares it and accepts it with POST /api/v1/mcp/servers/{server}/accept',
  ],
  no_server: ['not_found', 'there is no MCP server {name}; GET /api/v1/mcp/servers lists them'],
  not_as_shown: [
    'conflict',
    'no tool of {name} accepted: {tool} {why}; look at GET /api/v1/mcp/servers again',
  ],
});
