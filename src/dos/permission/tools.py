"""The tools of agent programs: which of them write, and which argument names the path.

Names are those that the programs use in their own requests. Several programs use the same name for
the same thing, so there is one table for all.
"""

import re

from dos.permission.shell.name_table import name_table

# The argument with the path of each tool that writes one file.
WRITERS = {
    "Write": ("file_path",),
    "Edit": ("file_path",),
    "MultiEdit": ("file_path",),
    "NotebookEdit": ("notebook_path", "file_path"),
    "write_file": ("file_path", "path"),
    "replace": ("file_path",),
    "write": ("filePath", "file_path", "filepath", "path"),
    "edit": ("filePath", "file_path", "filepath", "path"),
    "multiedit": ("filePath",),
    "afterFileEdit": ("file_path",),
    "write_to_file": ("TargetFile", "path"),
    "replace_file_content": ("TargetFile",),
    "multi_replace_file_content": ("TargetFile",),
    "str_replace_editor": ("path",),
    "str_replace_based_edit_tool": ("path",),
    "create": ("path",),
    "str_replace": ("path",),
    "insert": ("path",),
    "move": ("path", "source", "destination"),
    "delete": ("path",),
    "delete_file": ("path", "target_file"),
    "edit_file": ("path", "target_file"),
    "search_replace": ("file_path",),
}
# The argument with the text of each tool that takes a patch.
PATCHERS = {
    "apply_patch": ("input", "patch", "command", "patchText"),
    "ApplyPatch": ("input", "patch", "command"),
    "patch": ("patchText", "patch", "input"),
}
# The arguments with the command, and with the folder that it starts in.
SHELLS = name_table("""
    Bash bash Shell shell exec_command local_shell run_shell_command run_command
    beforeShellExecution execute terminal run_terminal_cmd container.exec Monitor monitor
    """)
COMMAND_ARGUMENTS = ("command", "cmd", "CommandLine", "script")
FOLDER_ARGUMENTS = ("directory", "workdir", "cwd", "Cwd", "working_directory", "dir_path")
# They show something, and change nothing anywhere.
READERS = name_table("""
    Read Glob Grep LS NotebookRead ToolSearch BashOutput TaskOutput TodoRead ListMcpResourcesTool
    view_image get_goal list_mcp_resources list_mcp_resource_templates
    read_file read_many_files glob grep_search search_file_content list_directory
    read grep list ls codesearch todoread view_file view beforeReadFile think search
    """)
# They write no file of a tree; what they do elsewhere is the business of their program's user.
WITHOUT_FILES = name_table("""
    WebFetch WebSearch KillShell KillBash TodoWrite Task Agent Skill SendMessage AskUserQuestion
    TaskCreate TaskGet TaskList TaskStop TaskUpdate CronCreate CronDelete CronList ScheduleWakeup
    ReportFindings
    ExitPlanMode EnterPlanMode EnterWorktree ExitWorktree Workflow SlashCommand ReadMcpResourceTool
    web_search web_search_call update_plan request_user_input create_goal update_goal
    read_mcp_resource spawn_agent send_message wait_agent close_agent resume_agent
    web_fetch google_web_search write_todos todo_write invoke_agent activate_skill save_memory
    webfetch websearch task skill todowrite question fetch switch_mode
    agent task_stop ask_user_question exit_plan_mode update_topic
    """)
# They send text to a program that runs already, so that nothing can be known of it.
TYPES_INTO_A_PROGRAM = frozenset(("write_stdin", "send_input", "WriteStdin"))

# Of tools that are in no table: words of a name that writes or reads, and arguments that tell.
PATH_ARGUMENTS = (
    "file_path",
    "filePath",
    "filepath",
    "notebook_path",
    "target_file",
    "TargetFile",
    "path",
    "file",
    "filename",
    "relative_path",
    "relativePath",
    "absolute_path",
    "absolutePath",
    "file_paths",
    "filePaths",
    "destination",
    "dest",
    "new_path",
    "newPath",
    "target",
    "source",
    "paths",
    "files",
)
CONTENT_ARGUMENTS = name_table("""
    content contents text new_string newString new_str old_string oldString old_str edits diff
    patch insert_text new_source code data body append replacement
    """)
_WRITES = name_table("""
    write edit create delete remove move rename replace patch insert append update save copy put
    modify mkdir touch truncate upload overwrite set
    """)
_READS = name_table("""
    read get list search find view show fetch query describe glob grep stat info exists count
    tree open load status diff
    """)
_RUNS = name_table("bash shell exec execute terminal command run cmd")
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def name_words(tool: str) -> frozenset[str]:
    """Return the words of a tool's own name, without that of the server that offers it."""
    own = tool.rpartition("__")[2] or tool
    return frozenset(word.lower() for word in _WORD.findall(own[:200]))


def says_it_writes(tool: str) -> bool:
    """Whether the name of an unlisted tool speaks of writing."""
    return not _WRITES.isdisjoint(name_words(tool))


def says_it_reads(tool: str) -> bool:
    """Whether the name of an unlisted tool speaks of reading, and of nothing that writes."""
    words = name_words(tool)
    return not _READS.isdisjoint(words) and _WRITES.isdisjoint(words)


def says_it_runs(tool: str) -> bool:
    """Whether the name of an unlisted tool speaks of running a command."""
    return not _RUNS.isdisjoint(name_words(tool))
