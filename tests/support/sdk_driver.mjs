// Drives the command line by the TypeScript Agent SDK: `node sdk_driver.mjs CLI FOLDER`, beside the SDK's node_modules.
// It knows nothing of Agenyx, and prints what it saw as one JSON object.

import { createSdkMcpServer, query, tool } from "@anthropic-ai/claude-agent-sdk";
import { z } from "zod";

const [cli, cwd] = process.argv.slice(2);
const asked = [];
const hooked = [];
const stderr = [];
const messages = [];
let models, commands, servers;

const add = tool("add", "Add two numbers", { a: z.number(), b: z.number() }, async ({ a, b }) => ({
  content: [{ type: "text", text: `sum ${a + b}` }],
}));

async function* prompts() {
  yield { type: "user", message: { role: "user", content: "go" }, parent_tool_use_id: null, session_id: "" };
}

const talk = query({
  prompt: prompts(),
  options: {
    pathToClaudeCodeExecutable: cli,
    cwd,
    includePartialMessages: true,
    systemPrompt: { type: "preset", preset: "claude_code", append: "APPENDED" },
    mcpServers: { calc: createSdkMcpServer({ name: "calc", version: "1.0.0", tools: [add] }) },
    agents: { finder: { description: "finds things", prompt: "You find things." } },
    allowedTools: ["mcp__calc__add"],
    additionalDirectories: [`${cwd}/../lib`],
    settings: { permissions: { deny: ["Read(secret.txt)"] } },
    fallbackModel: "second-model",
    stderr: (text) => stderr.push(text),
    canUseTool: async (name, input) => {
      asked.push(name);
      return { behavior: "allow", updatedInput: { ...input, content: "edited" } };
    },
    hooks: {
      PreToolUse: [
        {
          hooks: [
            async (input) => {
              hooked.push(input.tool_name);
              return {};
            },
          ],
        },
      ],
    },
  },
});

for await (const message of talk) {
  messages.push(message);
  if (message.type === "system" && message.subtype === "init") {
    models = await talk.supportedModels();
    commands = await talk.supportedCommands();
    servers = await talk.mcpServerStatus();
  }
}
console.log(JSON.stringify({ messages, asked, hooked, models, commands, servers, stderr }));
