// Written by `dos hooks install opencode`; `dos hooks uninstall opencode` removes it.
// Asks dos before and after each tool call, and when the agent stops.
import { spawn } from "node:child_process"
import { createConnection } from "node:net"

const COMMAND = ["dos"]
const SECONDS = 10
// An agent of a fleet waits for as long as its worker lives, and unasked it only reads.
const HAS_KEY = Boolean(process.env.DOS_LEASE_KEY)
const OF_FLEET = HAS_KEY && Boolean(process.env.DOS_HOOK_SOCKET)
const READERS = ["read", "grep", "glob", "list", "ls", "codesearch", "todoread"]

function viaSocket(path, moment, event) {
  return new Promise((resolve) => {
    let text = ""
    const socket = createConnection(path)
    const end = () => { socket.destroy(); resolve(text) }
    if (!OF_FLEET || moment !== "pretool") socket.setTimeout(SECONDS * 1000, end)
    socket.on("error", end)
    socket.on("connect", () => socket.write(
      JSON.stringify({ v: 1, ask: "hook", moment, dialect: "opencode", event }) + "\n"))
    socket.on("data", (data) => { text += data; if (text.includes("\n")) end() })
    socket.on("end", end)
  })
}

function viaCommand(moment, event, directory) {
  return new Promise((resolve, reject) => {
    let text = ""
    const words = [...COMMAND.slice(1), "hook", moment, "--dialect", "opencode"]
    const child = spawn(COMMAND[0], words, { cwd: directory, stdio: ["pipe", "pipe", "ignore"] })
    const timer = setTimeout(() => child.kill(), SECONDS * 1000)
    child.on("error", (error) => { clearTimeout(timer); reject(error) })
    child.on("close", (code) => {
      clearTimeout(timer)
      // Nothing printed is no opinion only of a command that ended as it should.
      code === 0 ? resolve(text) : reject(new Error(`dos ended with ${code}`))
    })
    child.stdout.on("data", (data) => { text += data })
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify(event))
  })
}

async function ask(moment, event, directory) {
  const socket = process.env.DOS_HOOK_SOCKET
  try {
    if (!socket) return JSON.parse((await viaCommand(moment, event, directory)) || "{}")
    const reply = JSON.parse(await viaSocket(socket, moment, event))
    return JSON.parse(reply.stdout || "{}")
  } catch {
    // A person's own session continues.
    if (!HAS_KEY || moment !== "pretool") return {}
    if (READERS.includes(event.tool_name)) return {}
    const permissionDecisionReason = "dos did not answer, so this call is refused."
    return { hookSpecificOutput: { permissionDecision: "deny", permissionDecisionReason } }
  }
}

export const Dos = async ({ client, directory }) => {
  const refused = new Set()
  const calls = new Map()
  const common = (name, session) => ({ hook_event_name: name, session_id: session, cwd: directory })

  async function lastMessage(id) {
    const messages = (await client.session.messages({ path: { id } })).data ?? []
    const last = messages.filter((each) => each.info?.role === "assistant").at(-1)
    return (last?.parts ?? []).filter((part) => part.type === "text").map((part) => part.text).join("\n")
  }

  async function stop(id) {
    const event = { ...common("Stop", id), stop_hook_active: refused.delete(id),
      last_assistant_message: await lastMessage(id) }
    const answer = await ask("stop", event, directory)
    if (answer.decision !== "block") return
    refused.add(id)
    await client.session.prompt({ path: { id }, body: { parts: [{ type: "text", text: answer.reason }] } })
  }

  // `opencode run` prints nothing of its retries, so the worker is told of them here.
  async function reportStatus(id, status) {
    if (!OF_FLEET || status?.type !== "retry") return
    const seconds = Math.max(0, (status.next - Date.now()) / 1000)
    const report = { type: status.type, attempt: status.attempt, message: status.message, seconds }
    await ask("session", { ...common("session.status", id), status: report }, directory)
  }

  return {
    "tool.execute.before": async (input, output) => {
      calls.set(input.callID, output.args)
      const answer = await ask("pretool", { ...common("PreToolUse", input.sessionID),
        tool_name: input.tool, tool_input: output.args }, directory)
      const said = answer.hookSpecificOutput ?? {}
      if (said.permissionDecision === "deny") throw new Error(said.permissionDecisionReason)
    },
    "tool.execute.after": async (input, output) => {
      const args = calls.get(input.callID) ?? {}
      calls.delete(input.callID)
      const answer = await ask("posttool", { ...common("PostToolUse", input.sessionID),
        tool_name: input.tool, tool_input: args, tool_response: output.output ?? "" }, directory)
      const context = answer.hookSpecificOutput?.additionalContext
      if (context) output.output = `${output.output ?? ""}\n${context}`
    },
    event: async ({ event }) => {
      const id = event.properties?.sessionID ?? event.properties?.info?.id
      if (event.type === "session.status") return reportStatus(id, event.properties.status)
      if (event.type === "session.idle") await stop(id)
      if (event.type === "session.created") {
        await ask("session", common("SessionStart", id), directory)
      }
    },
  }
}
