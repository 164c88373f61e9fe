export { agentCommand } from '../serve/agent-command.ts';
export { askEdge } from './status-socket.ts';
export { testEdge } from './self-test.ts';
export { serveEdge } from './serve.ts';
