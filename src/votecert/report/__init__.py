"""What people look at: results about a vote as HTML reports, in model cards, in notebooks."""

from votecert.report.markdown import to_markdown
from votecert.report.notebook import notebook_html
from votecert.report.page import monitor_page, record_page, to_html

__all__ = ["monitor_page", "notebook_html", "record_page", "to_html", "to_markdown"]
