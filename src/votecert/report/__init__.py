"""What people look at: results about a vote as HTML reports, in model cards, in notebooks."""

from votecert.report.markdown import to_markdown
from votecert.report.notebook import notebook_html
from votecert.report.page import monitor_page, to_html
from votecert.report.records import record_page

__all__ = ["monitor_page", "notebook_html", "record_page", "to_html", "to_markdown"]
